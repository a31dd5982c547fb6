//! The Advice screen: today's order beside the one wanted, the reasons, and what another order would cost.
#![forbid(unsafe_code)]

use advisor::output::{AdviceRecord, Document, PlaceSpeed, RecommendationRecord, words};
use advisor::policy::Profile;
use advisor::resolver::Side;

use super::commands::Action;
use super::numbers::with_spread;
use super::shown::{show, shown};
use super::{Model, Screen};

/// A line of the screen.
#[derive(Clone, Debug, PartialEq)]
pub enum AdviceItem {
    /// A side begins.
    Heading(String),
    /// A sentence.
    Sentence(String),
    /// One place of a list, today and as it should be.
    Place {
        /// From 1.
        position: usize,
        /// Who stands there today.
        today: String,
        /// Who should.
        recommended: String,
        /// Whether those differ.
        changes: bool,
        /// The second one's speed in GB/s with ±; empty where it has none.
        speed: String,
        /// Its transfer speed in MB/s, measured or projected; empty where there is none.
        transfer: String,
        /// Why it stands there.
        reason: String,
        /// Whether it can be moved by hand: the client's order decides, so it is the one arranged.
        movable: bool,
    },
}

impl AdviceItem {
    /// Its words.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Heading(text) | Self::Sentence(text) => text.clone(),
            Self::Place {
                position,
                recommended,
                speed,
                transfer,
                reason,
                ..
            } => format!("{position}. {recommended} {speed} {transfer}: {reason}"),
        }
    }

    fn show(&mut self) {
        match self {
            Self::Heading(text) | Self::Sentence(text) => show(text),
            Self::Place {
                today,
                recommended,
                reason,
                ..
            } => [today, recommended, reason].into_iter().for_each(show),
        }
    }
}

/// The screen for what the model knows.
#[must_use]
pub fn view(model: &Model) -> Vec<AdviceItem> {
    let document = model.document.as_deref();
    let advised = document.zip(document.and_then(|it| it.recommendation.as_ref()));
    let Some((document, recommendation)) = advised.filter(|_| model.report().is_some()) else {
        return vec![AdviceItem::Sentence(waiting(model).to_owned())];
    };
    let mut basis = words::basis(recommendation);
    basis.push_str(&format!(" Profile {}.", recommendation.profile.name()));
    let mut items = vec![AdviceItem::Sentence(basis)];
    for side in [Side::Client, Side::Server] {
        items.extend(one_side(model, document, recommendation, side));
    }
    if leads_on(document) {
        items.push(AdviceItem::Heading(
            "Enter goes on to Apply, which shows the file and writes nothing unasked.".to_owned(),
        ));
    }
    items.iter_mut().for_each(AdviceItem::show);
    items.retain(|item| model.passes(Screen::Advice, &item.text()));
    items
}

/// What Enter does: there is one way on.
pub(super) fn target(model: &Model) -> Option<Action> {
    let document = model.document.as_ref().filter(|it| leads_on(it));
    document.map(|_| Action::Show(Screen::Apply))
}

fn leads_on(document: &Document) -> bool {
    !document.changes.is_empty() || !document.refusals.is_empty()
}

/// Whether the cursor is on a place that can be moved.
pub(super) fn is_on_movable(model: &Model) -> bool {
    model.screen == Screen::Advice && position(model).is_some()
}

/// Moves the cipher under the cursor by one place and says what that costs. The cursor goes with it.
pub(super) fn rearrange(model: &mut Model, down: bool) -> bool {
    let (Some(from), Some(mut order)) = (position(model), client_order(model)) else {
        return false;
    };
    let to = if down { from + 1 } else { from.wrapping_sub(1) };
    if to >= order.len() {
        return false;
    }
    order.swap(from, to);
    let (above, below) = (from.min(to), from.max(to));
    model.notice = Some(shown(&price(model, &order[above], &order[below])));
    model.question.order = Some(order);
    let cursor = &mut model.cursors[Screen::Advice as usize];
    *cursor = if down {
        *cursor + 1
    } else {
        cursor.saturating_sub(1)
    };
    true
}

/// The next profile.
pub(super) fn turn_profile(model: &mut Model) {
    let recommendation = model
        .document
        .as_ref()
        .and_then(|it| it.recommendation.as_ref());
    let now = model
        .question
        .profile
        .or(recommendation.map(|it| it.profile));
    model.question.profile = Some(match now {
        None | Some(Profile::Bulk) => Profile::Mixed,
        Some(Profile::Mixed) => Profile::Interactive,
        Some(Profile::Interactive) => Profile::Bulk,
    });
}

/// An order arranged for another list of ciphers means nothing for this one.
pub(super) fn forget_foreign_order(model: &mut Model) {
    let advice = model
        .document
        .as_ref()
        .and_then(|it| it.advice(Side::Client));
    let sorted = |order: &[String]| {
        let mut names = order.to_vec();
        names.sort();
        names
    };
    let known = advice.map(|it| sorted(&it.order));
    let own = model.question.order.as_deref().map(sorted);
    if own.is_some() && own != known {
        model.question.order = None;
    }
}

/// Where in the client's order the cursor is.
fn position(model: &Model) -> Option<usize> {
    match view(model).get(model.cursors[Screen::Advice as usize])? {
        AdviceItem::Place {
            position,
            movable: true,
            ..
        } => Some(position - 1),
        _ => None,
    }
}

fn client_order(model: &Model) -> Option<Vec<String>> {
    let recommended = || Some(model.document.as_ref()?.advice(Side::Client)?.order.clone());
    model.question.order.clone().or_else(recommended)
}

/// What it means that one cipher stands above another.
fn price(model: &Model, above: &str, below: &str) -> String {
    let document = model.document.as_ref();
    let advice = document.and_then(|it| it.advice(Side::Client));
    let speed = |name: &str| projected(advice?, name);
    let (first, second) = (words::short(above), words::short(below));
    let effect = match speed(above).zip(speed(below)) {
        Some((a, b)) if a < b => format!("costs {:.0} % of the speed", (1.0 - a / b) * 100.0),
        Some((a, b)) => format!("gains {:.0} %", (a / b - 1.0) * 100.0),
        None => "has a price that was not measured".to_owned(),
    };
    format!("{first} above {second} {effect} where the server has both.")
}

fn projected(advice: &AdviceRecord, cipher: &str) -> Option<f64> {
    let place = advice.order.iter().position(|name| name == cipher)?;
    let speed = advice.speeds.get(place)?.as_ref()?;
    Some(speed.projected_mb_per_s)
}

const fn waiting(model: &Model) -> &'static str {
    if model.is_measuring() {
        "The advice comes when the numbers are in."
    } else {
        "Advice needs numbers: press m to measure."
    }
}

fn one_side(
    model: &Model,
    document: &Document,
    recommendation: &RecommendationRecord,
    side: Side,
) -> Vec<AdviceItem> {
    let (Some(advice), Some(today)) = (document.advice(side), document.configuration.side(side))
    else {
        return Vec::new();
    };
    let by_hand = model.question.order.as_deref();
    let by_hand = by_hand.filter(|_| side == Side::Client);
    let order = by_hand.unwrap_or(&advice.order);
    let mut items = vec![AdviceItem::Heading(match by_hand {
        Some(_) => "Client: your own order (R takes the recommended one)".to_owned(),
        None => title(side, advice),
    })];
    let places = (0..order.len()).map(|index| place(side, advice, order, &today.effective, index));
    items.extend(places);
    if side == Side::Client {
        items.push(AdviceItem::Sentence(
            words::columns(recommendation).to_owned(),
        ));
    }
    match by_hand {
        Some(order) => items.extend(own_price(advice, order).map(AdviceItem::Sentence)),
        None => items.extend(explained(side, recommendation, advice).map(AdviceItem::Sentence)),
    }
    items
}

fn explained(
    side: Side,
    recommendation: &RecommendationRecord,
    advice: &AdviceRecord,
) -> impl Iterator<Item = String> {
    let tied = advice.ties.iter().map(|group| words::tied(group));
    // Only the client's order changes what is negotiated.
    let gain = words::gain(recommendation, advice).filter(|_| side == Side::Client);
    gain.into_iter().chain(tied).chain(advice.limits.clone())
}

/// What the first cipher of an order arranged by hand costs beside the recommended first.
fn own_price(advice: &AdviceRecord, order: &[String]) -> Option<String> {
    let (first, best) = (order.first()?, advice.order.first()?);
    let share = projected(advice, first)? / projected(advice, best)?;
    Some(match first == best {
        true => "The first cipher is the recommended one: most connections get it.".to_owned(),
        false => format!(
            "Where the server has both, {} moves {share:.2} × what {} would.",
            words::short(first),
            words::short(best)
        ),
    })
}

fn title(side: Side, advice: &AdviceRecord) -> String {
    let what = match (advice.differs, side) {
        (false, _) => "stays as it is",
        (true, Side::Client) => "a better order",
        (true, Side::Server) => "a better order, without effect by itself",
    };
    format!("{}: {what}", words::side(side))
}

fn place(
    side: Side,
    advice: &AdviceRecord,
    order: &[String],
    today: &[String],
    index: usize,
) -> AdviceItem {
    let wanted = &order[index];
    let there = today.get(index).map_or("", String::as_str);
    let advised = advice.order.iter().position(|name| name == wanted);
    let speed = |it: &PlaceSpeed| format!("{} GB/s", with_spread(it.gb_per_s, it.ci95, true));
    let transfer = |it: &PlaceSpeed| format!("{:.0} MB/s", it.mb_per_s());
    let speeds = advised.and_then(|at| advice.speeds.get(at)?.as_ref());
    let reason = match advised {
        Some(at) if at == index => advice.reasons.get(at).cloned().unwrap_or_default(),
        Some(at) => format!("by hand; recommended at place {}", at + 1),
        None => String::new(),
    };
    AdviceItem::Place {
        position: index + 1,
        today: words::short(there).to_owned(),
        recommended: words::short(wanted).to_owned(),
        changes: there != wanted,
        speed: speeds.map_or_else(String::new, speed),
        transfer: speeds.map_or_else(String::new, transfer),
        reason,
        movable: side == Side::Client,
    }
}
