//! What an order can and cannot change, in sentences.
#![forbid(unsafe_code)]

use super::{Advice, Place, short};
use crate::resolver::{Effective, Side};

/// The speed of a full 1 Gbit/s link in MB/s.
const GIGABIT_MB_PER_S: f64 = 118.0;

/// All that is to be said of an advice.
pub(super) fn limits(effective: &Effective, advice: &Advice) -> Vec<String> {
    let mut limits = membership(advice);
    limits.extend(pinned(advice));
    limits.extend(match effective.side {
        Side::Client => client_limits(advice),
        Side::Server if !advice.dropped().is_empty() => Vec::new(),
        Side::Server => vec![
            "No effect on speed: the client's order decides, a server can only leave ciphers out."
                .to_owned(),
        ],
    });
    if !effective.alternatives.is_empty() {
        limits.push(
            "Which list holds depends on a Match that is decided only at run time, by a command, the network or the kind of session; this is advice for the one shown."
                .to_owned(),
        );
    }
    limits
}

fn client_limits(advice: &Advice) -> Vec<String> {
    let places = &advice.places;
    let mut limits = vec![
        "A connection uses the first cipher of this list that the server has; open ones keep theirs."
            .to_owned(),
        "Many short connections gain nothing: a handshake costs as much as some 100 MB.".to_owned(),
    ];
    let ends = [places.first(), places.iter().find(|place| place.today == 1)];
    let projected = ends.map(|place| place.and_then(Place::projected_mb_per_s));
    if let [Some(new), Some(old)] = projected
        && new.min(old) > GIGABIT_MB_PER_S
    {
        limits.push(
            "On a link of 1 Gbit/s or less (118 MB/s) the link is the limit; what is saved there is processor time."
                .to_owned(),
        );
    }
    limits
}

/// Who can still connect.
fn membership(advice: &Advice) -> Vec<String> {
    let (added, dropped) = (advice.added(), advice.dropped());
    if added.is_empty() && dropped.is_empty() {
        return match advice.side {
            Side::Client => vec![
                "Nothing is added or removed, so whatever connects today still connects."
                    .to_owned(),
            ],
            Side::Server => Vec::new(),
        };
    }
    let names = |list: &[&str]| {
        list.iter()
            .map(|it| short(it))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let mut said = Vec::new();
    if !dropped.is_empty() {
        let (peers, here) = match advice.side {
            Side::Client => ("Servers", "be reached"),
            Side::Server => ("Clients", "connect"),
        };
        let rest: Vec<&str> = advice.places.iter().map(|it| it.cipher.as_str()).collect();
        said.push(format!(
            "Left out: {}. {peers} that have none of {} can not {here} any more.",
            names(&dropped),
            names(&rest)
        ));
    }
    if !added.is_empty() {
        said.push(format!("Added, as the policy asks: {}.", names(&added)));
    }
    said
}

/// What a pinned list costs.
fn pinned(advice: &Advice) -> Option<String> {
    let policy = advice.pinned.as_ref()?;
    let price = match advice.price {
        Some(price) if price > 1.05 => format!(
            "Its price: the fastest cipher would move {price:.1} × the data of {}, which it puts first.",
            advice.places.first().map_or("", |it| short(&it.cipher))
        ),
        Some(_) => "It costs no speed here.".to_owned(),
        None => "What it costs in speed was not measured.".to_owned(),
    };
    Some(format!(
        "Policy {policy} pins this list and its order. {price}"
    ))
}
