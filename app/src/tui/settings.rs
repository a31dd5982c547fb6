//! The user's file of settings: what may be shown, and which keys run what.
//!
//! The command line outranks it, it outranks the environment. Mistakes are told with their place.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use super::themes::{Depth, THEMES};
use crate::model::bindings::Bindings;
use crate::model::commands::{COMMANDS, Command};
use crate::model::keys::Key;

/// What the file says; what it leaves out stays undecided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The name of a theme.
    pub theme: Option<String>,
    /// When there are colours.
    pub color: Option<When>,
    /// How many colours the terminal has, whatever its variables say.
    pub depth: Option<Depth>,
    /// Only ASCII characters.
    pub ascii: Option<bool>,
    /// Whether the mouse clicks here.
    pub mouse: Option<bool>,
    /// The keys of the commands.
    pub bindings: Bindings,
}

/// When there are colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum When {
    /// Unless NO_COLOR says no.
    Auto,
    /// Whatever NO_COLOR says.
    Always,
    /// Never.
    Never,
}

/// A mistake in the file: `file:line:column: what; the cure`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}:{line}:{column}: {what}; {cure}", .file.display())]
pub struct SettingsError {
    file: PathBuf,
    line: usize,
    column: usize,
    what: String,
    cure: String,
}

/// Where the file is looked for: below `XDG_CONFIG_HOME`, else below `~/.config`.
#[must_use]
pub fn usual_place(variable: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let absolute = |name: &str| {
        variable(name)
            .map(PathBuf::from)
            .filter(|it| it.is_absolute())
    };
    let home = || Some(absolute("HOME")?.join(".config"));
    let base = absolute("XDG_CONFIG_HOME").or_else(home)?;
    Some(base.join("cipher-advisor/advisor-tui.toml"))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    theme: Option<Spanned<String>>,
    color: Option<When>,
    depth: Option<DepthName>,
    ascii: Option<bool>,
    mouse: Option<bool>,
    #[serde(default)]
    keys: BTreeMap<Spanned<String>, Vec<Spanned<String>>>,
}

#[derive(Clone, Copy, Deserialize)]
enum DepthName {
    #[serde(rename = "16")]
    Sixteen,
    #[serde(rename = "256")]
    Cube,
    #[serde(rename = "truecolor")]
    True,
}

impl Settings {
    /// Reads the text of a file; `file` names it in errors.
    ///
    /// # Errors
    /// The first mistake, with its place and its cure.
    pub fn parse(file: &Path, text: &str) -> Result<Self, SettingsError> {
        let source = Source { file, text };
        let read: Keys = toml::from_str(text).map_err(|error| {
            let what = error.message().lines().collect::<Vec<_>>().join(" ");
            source.error(error.span().unwrap_or(0..0), what, CURE)
        })?;
        let mut bindings = Bindings::default();
        for (id, names) in &read.keys {
            let command = source.command(id)?;
            let keys = names
                .iter()
                .map(|it| source.key(it))
                .collect::<Result<_, _>>();
            bindings.give(command, keys?);
        }
        Ok(Self {
            theme: read.theme.map(|it| source.theme(it)).transpose()?,
            color: read.color,
            depth: read.depth.map(|it| match it {
                DepthName::Sixteen => Depth::Sixteen,
                DepthName::Cube => Depth::Cube,
                DepthName::True => Depth::True,
            }),
            ascii: read.ascii,
            mouse: read.mouse,
            bindings,
        })
    }

    /// A file with every setting as it is without one, to begin from.
    #[must_use]
    pub fn template() -> String {
        let names: Vec<_> = THEMES.iter().map(|it| it.name.as_str()).collect();
        let mut text = format!(
            "# Settings of advisor-tui. Lines that begin with # say what holds without them.

# {}: the terminal's own colours, or others where it has 256 or more.
#theme = \"terminal\"
# auto, always or never; auto heeds NO_COLOR.
#color = \"auto\"
# 16, 256 or truecolor, where TERM and COLORTERM do not say it.
#depth = \"16\"
# Only ASCII characters; without this line as the locale has it.
#ascii = false
# Whether the mouse clicks here, or marks text.
#mouse = true

# Keys: a character, Ctrl-X, or Enter Esc Tab Shift-Tab Space Backspace
# Up Down Left Right PgUp PgDn Home End F1.
[keys]
",
            names.join(", ")
        );
        for command in COMMANDS {
            let keys: Vec<_> = command.keys.iter().map(|it| quoted(*it)).collect();
            text.push_str(&format!(
                "# {}\n#{} = [{}]\n",
                command.help,
                command.id(),
                keys.join(", ")
            ));
        }
        text
    }
}

const CURE: &str = "advisor-tui --print-config shows every setting";

/// A key as the file has it: arrows as words, so that it is ASCII.
fn quoted(key: Key) -> String {
    let name = match key {
        Key::Up => "Up".to_owned(),
        Key::Down => "Down".to_owned(),
        Key::Left => "Left".to_owned(),
        Key::Right => "Right".to_owned(),
        other => other.to_string(),
    };
    format!("{name:?}")
}

struct Source<'a> {
    file: &'a Path,
    text: &'a str,
}

impl Source<'_> {
    fn command(&self, id: &Spanned<String>) -> Result<&'static Command, SettingsError> {
        let mut rows = COMMANDS.iter();
        let row = rows.find(|row| row.id() == *id.get_ref());
        row.ok_or_else(|| {
            let what = format!("no command is called {:?}", id.get_ref());
            self.error(id.span(), what, CURE)
        })
    }

    fn key(&self, name: &Spanned<String>) -> Result<Key, SettingsError> {
        let key = name.get_ref().parse::<Key>();
        key.map_err(|error| {
            let cure = "write a character, Ctrl-X, or a name like Enter, Tab, PgUp, F1";
            self.error(name.span(), error.to_string(), cure)
        })
    }

    fn theme(&self, name: Spanned<String>) -> Result<String, SettingsError> {
        let names: Vec<_> = THEMES.iter().map(|it| it.name.as_str()).collect();
        if names.contains(&name.get_ref().as_str()) {
            return Ok(name.into_inner());
        }
        let what = format!("no theme is called {:?}", name.get_ref());
        let cure = format!("there are {}", names.join(", "));
        Err(self.error(name.span(), what, &cure))
    }

    fn error(&self, span: Range<usize>, what: String, cure: &str) -> SettingsError {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line = before.rsplit('\n').next().unwrap_or("");
        SettingsError {
            file: self.file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: line.len() + 1,
            what,
            cure: cure.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::commands::{Action, command_for};

    fn parse(text: &str) -> Result<Settings, String> {
        Settings::parse(Path::new("t.toml"), text).map_err(|error| error.to_string())
    }

    #[test]
    fn everything_can_be_set() {
        let text = "theme = \"dark\"\ncolor = \"never\"\ndepth = \"256\"\nascii = true\nmouse = false\n[keys]\nmeasure = [\"g\", \"F1\"]\nstop = []\n";
        let settings = parse(text).expect("it is right");
        assert_eq!(settings.theme.as_deref(), Some("dark"));
        assert_eq!(settings.color, Some(When::Never));
        assert_eq!(settings.depth, Some(Depth::Cube));
        assert_eq!((settings.ascii, settings.mouse), (Some(true), Some(false)));
        let keys = |action| settings.bindings.of(command_for(action)).to_vec();
        assert_eq!(keys(Action::Measure), [Key::Char('g'), Key::F1]);
        assert_eq!(keys(Action::Stop), []);
        assert_eq!(keys(Action::Quit), command_for(Action::Quit).keys);
    }

    #[test]
    fn mistakes_are_told_with_their_place_and_cure() {
        let cases = [
            ("thema = 1\n", "t.toml:1:1: unknown field `thema`"),
            (
                "\ntheme = \"pink\"\n",
                "t.toml:2:9: no theme is called \"pink\"; there are terminal, dark, light",
            ),
            (
                "[keys]\nmesure = [\"m\"]\n",
                "t.toml:2:1: no command is called \"mesure\"; advisor-tui --print-config",
            ),
            (
                "[keys]\nmeasure = [\"m\", \"F99\"]\n",
                "t.toml:2:17: \"F99\" is no key; write a character",
            ),
            ("color = \"blue\"\n", "t.toml:1:9: unknown variant `blue`"),
            ("theme = \n", "t.toml:1:"),
        ];
        for (text, told) in cases {
            let error = parse(text).expect_err(text);
            assert!(error.starts_with(told), "{error}");
        }
    }

    #[test]
    fn the_template_is_read_and_says_what_holds_already() {
        assert_eq!(parse(&Settings::template()), Ok(Settings::default()));
        // The same without the marks of comments before settings.
        let line = |it: &str| match it.strip_prefix('#') {
            Some(setting) if !setting.starts_with(' ') => setting.to_owned(),
            _ => it.to_owned(),
        };
        let spoken: Vec<String> = Settings::template().lines().map(line).collect();
        let settings = parse(&spoken.join("\n")).expect("every default can be written");
        for command in COMMANDS {
            assert_eq!(settings.bindings.of(command), command.keys);
        }
    }

    #[test]
    fn it_is_looked_for_where_the_user_keeps_such_files() {
        let place = |pairs: &[(&str, &str)]| {
            usual_place(|name| {
                let pair = pairs.iter().find(|(key, _)| *key == name);
                pair.map(|(_, value)| (*value).to_owned())
            })
        };
        let file = "cipher-advisor/advisor-tui.toml";
        assert_eq!(
            place(&[("HOME", "/h")]),
            Some(Path::new("/h/.config").join(file))
        );
        let both = [("HOME", "/h"), ("XDG_CONFIG_HOME", "/x")];
        assert_eq!(place(&both), Some(Path::new("/x").join(file)));
        assert_eq!(place(&[("XDG_CONFIG_HOME", "relative")]), None);
    }
}
