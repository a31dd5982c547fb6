//! Unified diffs.
#![forbid(unsafe_code)]

use similar::TextDiff;

use super::Edit;

/// The edit as `diff -u` would show it. Bytes that are no UTF-8 are replaced.
#[must_use]
pub fn unified_diff(edit: &Edit) -> String {
    let name = edit.path.display().to_string();
    let old_name = if edit.before.is_some() {
        name.as_str()
    } else {
        "/dev/null"
    };
    let before = String::from_utf8_lossy(edit.before.as_deref().unwrap_or_default());
    let after = String::from_utf8_lossy(&edit.after);
    let diff = TextDiff::from_lines(&*before, &*after);
    diff.unified_diff().header(old_name, &name).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_is_compared_with_nothing() {
        let edit = Edit {
            path: "/etc/x".into(),
            before: None,
            after: b"Ciphers a\n".to_vec(),
        };
        assert_eq!(
            unified_diff(&edit),
            "--- /dev/null\n+++ /etc/x\n@@ -0,0 +1 @@\n+Ciphers a\n"
        );
    }

    #[test]
    fn a_missing_newline_is_told() {
        let edit = Edit {
            path: "/etc/x".into(),
            before: Some(b"Ciphers b".to_vec()),
            after: b"Ciphers a".to_vec(),
        };
        let diff = unified_diff(&edit);
        assert!(diff.contains("-Ciphers b\n\\ No newline at end of file\n+Ciphers a\n"));
    }
}
