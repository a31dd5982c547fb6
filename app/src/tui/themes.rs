//! Themes: what the few colours the screens draw with become. Each is a file of `assets/themes`.
#![forbid(unsafe_code)]

use std::sync::LazyLock;

use ratatui::style::Color;
use serde::Deserialize;

/// A colour as red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Rgb(u8, u8, u8);

/// What the colours become; what is left out stays the terminal's own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Theme {
    /// Its name.
    pub name: String,
    /// What is written with no colour.
    pub text: Option<Rgb>,
    /// What is written on.
    pub ground: Option<Rgb>,
    /// Good, added, fast.
    pub good: Option<Rgb>,
    /// To be looked at.
    pub notable: Option<Rgb>,
    /// Bad, removed.
    pub bad: Option<Rgb>,
}

/// The built-in themes. The first is the terminal's own colours.
pub static THEMES: LazyLock<Vec<Theme>> = LazyLock::new(|| {
    let files = [
        include_str!("../../../assets/themes/terminal.toml"),
        include_str!("../../../assets/themes/dark.toml"),
        include_str!("../../../assets/themes/light.toml"),
    ];
    let theme = |text| toml::from_str(text).expect("a test reads every built-in theme");
    files.into_iter().map(theme).collect()
});

/// How many colours a terminal shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depth {
    /// Its own sixteen: themes need more.
    #[default]
    Sixteen,
    /// The 256 of xterm's cube.
    Cube,
    /// Any.
    True,
}

impl Rgb {
    pub(super) fn at(self, depth: Depth) -> Color {
        let Self(red, green, blue) = self;
        match depth {
            Depth::Sixteen => Color::Reset,
            Depth::Cube => Color::Indexed(cube(red, green, blue)),
            Depth::True => Color::Rgb(red, green, blue),
        }
    }
}

impl TryFrom<String> for Rgb {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no colour; write one like \"#56b4e9\"");
        let digits = text.strip_prefix('#').filter(|it| it.len() == 6);
        let number = digits.and_then(|it| u32::from_str_radix(it, 16).ok());
        let [_, red, green, blue] = number.ok_or_else(wrong)?.to_be_bytes();
        Ok(Self(red, green, blue))
    }
}

/// The nearest colour of xterm's cube: 16 + 36 r + 6 g + b with steps of 0, 95, 135, 175, 215, 255.
fn cube(red: u8, green: u8, blue: u8) -> u8 {
    let step = |value: u8| match value {
        0..48 => 0,
        48..115 => 1,
        _ => (value - 35) / 40,
    };
    16 + 36 * step(red) + 6 * step(green) + step(blue)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_theme_is_read_and_named() {
        let names: Vec<_> = THEMES.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["terminal", "dark", "light"]);
    }

    #[test]
    fn colours_are_written_in_hexadecimal() {
        assert_eq!(Rgb::try_from("#0180ff".to_owned()), Ok(Rgb(1, 128, 255)));
        for wrong in ["", "#", "#12345", "#1234567", "123456", "#gggggg"] {
            assert!(Rgb::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_corners_of_the_cube_are_met() {
        assert_eq!([cube(0, 0, 0), cube(255, 255, 255)], [16, 231]);
        assert_eq!(cube(255, 0, 0), 196);
        assert_eq!(cube(95, 135, 175), 67);
    }
}
