//! Colours that colour-blind people can tell apart (Okabe and Ito, 2008), and never alone: each stands
//! beside its word.
#![forbid(unsafe_code)]

use advisor::resolver::Severity;
use egui::{Color32, Visuals};
use engine::report::ProviderName;

const BLUE: Color32 = Color32::from_rgb(0, 114, 178);
const ORANGE: Color32 = Color32::from_rgb(230, 159, 0);
const GREEN: Color32 = Color32::from_rgb(0, 158, 115);
const PURPLE: Color32 = Color32::from_rgb(204, 121, 167);
const VERMILION: Color32 = Color32::from_rgb(213, 94, 0);

pub(super) const fn provider(name: ProviderName) -> Color32 {
    match name {
        ProviderName::OpenSsh => BLUE,
        ProviderName::Native => ORANGE,
        ProviderName::RustCrypto => GREEN,
        ProviderName::Libcrypto => PURPLE,
    }
}

pub(super) fn severity(severity: Severity, visuals: &Visuals) -> Color32 {
    match severity {
        Severity::Info => visuals.text_color(),
        Severity::Warning => ORANGE,
        Severity::Error => VERMILION,
    }
}

pub(super) const ADDED: Color32 = GREEN;
pub(super) const REMOVED: Color32 = VERMILION;
