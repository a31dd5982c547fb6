//! How an order is written as a value.
#![forbid(unsafe_code)]

use engine::installed::releases::{Release, knows_prefix};

use crate::policy::Form;
use crate::resolver::{Effective, Source};

/// The value that yields `order`: the shortest `^a,b` where the form allows it and it says exactly the
/// same, else every name.
pub(super) fn value(
    order: &[String],
    effective: &Effective,
    form: Form,
    release: Release,
) -> String {
    let on_default = match (&effective.source, &effective.written) {
        (Source::Default(_), _) => true,
        (_, written) => written.as_ref().is_some_and(|it| it.starts_with('^')),
    };
    let may_use_caret = match form {
        Form::List => false,
        Form::Caret => true,
        Form::Auto => on_default,
    };
    let caret = (may_use_caret && knows_prefix(release, '^'))
        .then(|| caret(order, &effective.default))
        .flatten();
    caret.unwrap_or_else(|| order.join(","))
}

/// The fewest names that, moved to the front of the default, give the order; `None` where that takes
/// them all, or none do.
fn caret(order: &[String], default: &[String]) -> Option<String> {
    let yields = |count: &usize| {
        let (front, rest) = order.split_at(*count);
        default.iter().filter(|name| !front.contains(name)).eq(rest)
    };
    let count = (1..order.len()).find(yields)?;
    Some(format!("^{}", order[..count].join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(names: &str) -> Vec<String> {
        names.chars().map(String::from).collect()
    }

    #[test]
    fn the_caret_takes_the_fewest_names() {
        assert_eq!(
            caret(&list("deabc"), &list("abcde")),
            Some("^d,e".to_owned())
        );
        assert_eq!(
            caret(&list("edabc"), &list("abcde")),
            Some("^e,d".to_owned())
        );
        assert_eq!(
            caret(&list("abced"), &list("abcde")),
            Some("^a,b,c,e".to_owned())
        );
    }

    #[test]
    fn no_caret_where_the_list_is_not_the_defaults() {
        assert_eq!(caret(&list("ba"), &list("abc")), None);
        assert_eq!(caret(&[], &list("abc")), None);
    }
}
