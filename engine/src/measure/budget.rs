//! The time for a measurement, as people write it.
#![forbid(unsafe_code)]

use std::time::Duration;

/// `10s`, `500ms`, `1.5m`, or a number of seconds; from 100 ms to an hour.
///
/// # Errors
/// In words, what would be understood.
pub fn parse_budget(text: &str) -> Result<Duration, String> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let seconds = match &text[number.len()..] {
        "" | "s" => 1.0,
        "ms" => 0.001,
        "m" => 60.0,
        _ => f64::NAN,
    };
    let time = number.parse::<f64>().unwrap_or(f64::NAN) * seconds;
    if (0.1..=3600.0).contains(&time) {
        Ok(Duration::from_secs_f64(time))
    } else {
        Err("give a time from 100ms to 60m, like 10s".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_and_limits() {
        assert_eq!(parse_budget("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(parse_budget("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_budget("1.5m"), Ok(Duration::from_secs(90)));
        for wrong in ["", "s", "-1s", "0", "nan", "inf", "1h", "9999m"] {
            assert!(parse_budget(wrong).is_err(), "{wrong}");
        }
    }
}
