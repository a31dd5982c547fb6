//! What `ssh` makes of its files (`readconf.c`, `ssh.c`).
#![forbid(unsafe_code)]

use std::path::Path;

use engine::installed::releases::{self, Release};

use super::algorithms::{Family, Kind};
use super::keywords::{self, Known};
use super::patterns::{self, Activity, Name};
use super::reading::{self, Read, Reading};
use super::setting::{Lists, Setting, Standing};
use super::{ClientFiles, ClientRequest, Effective, Location, Severity, Side, show};
use crate::files::Files;
use crate::syntax::{self, Content, Dialect, Fault, Line, Statement, Token, Tree};

/// What `ssh` would use for a host, and why.
///
/// The order of looking is the program's: command line, the user's file (or `-F`), the system's file, and
/// all files once more where `Match final` or canonicalisation asks for it.
#[must_use]
pub fn resolve_client(files: &dyn Files, request: &ClientRequest) -> Effective {
    let mut client = Client::new(files, request);
    client.command_line();
    client.lists.end_command_line();
    let from_command_line = client.lists.considered.len();
    client.pass(Activity::Yes);
    client.check_hostname();
    let again = client.final_activity();
    if again > Activity::No {
        client.final_host = Some(client.host_after_first_pass());
        client.lists.begin_second_pass(from_command_line);
        client.pass(again);
    }
    client.lists.conclude(Side::Client, client.reading)
}

pub(super) struct Client<'q> {
    pub(super) request: &'q ClientRequest,
    pub(super) reading: Reading<'q>,
    dialect: Dialect,
    lists: Lists,
    pub(super) hostname: Setting,
    pub(super) user: Setting,
    pub(super) tag: Setting,
    pub(super) session_type: Setting,
    ignored: Setting,
    pub(super) canonicalize: Setting,
    /// The host as typed.
    pub(super) original: Name,
    /// The host of the second pass, once that runs.
    pub(super) final_host: Option<Name>,
    /// Whether some line asks for a second pass.
    pub(super) wants_final: bool,
}

/// The file being read.
pub(super) struct Place<'p> {
    pub(super) path: &'p Path,
    /// Whether the rules of the user's file hold: `~`, and relative names below `~/.ssh`.
    pub(super) user: bool,
    pub(super) depth: usize,
    /// What the line that includes it stands in.
    pub(super) outer: Standing,
}

/// One line of it.
pub(super) struct Here<'p> {
    pub(super) place: &'p Place<'p>,
    pub(super) tree: &'p Tree,
    pub(super) line: &'p Line,
    pub(super) statement: &'p Statement,
    pub(super) keyword: Vec<u8>,
}

impl Here<'_> {
    pub(super) fn at(&self, token: &Token) -> Location {
        reading::at(self.place.path, self.tree, self.line, token)
    }

    pub(super) fn location(&self) -> Location {
        self.at(&self.statement.keyword)
    }
}

impl<'q> Client<'q> {
    fn new(files: &'q dyn Files, request: &'q ClientRequest) -> Self {
        let dialect = Dialect {
            strips_bom: request.layout.strips_bom(),
            ..Dialect::client(request.release)
        };
        let (release, supported) = (request.release, &request.supported);
        let known = |host: &String| Name::Known(host.clone().into_bytes());
        let mut client = Self {
            request,
            reading: Reading::new(files, dialect),
            dialect,
            lists: Lists::new(
                Family::new(
                    release,
                    &request.layout.ciphers(releases::client_ciphers(release)),
                    &supported.ciphers,
                ),
                Family::new(release, releases::client_macs(release), &supported.macs),
            ),
            hostname: Setting::default(),
            user: Setting::default(),
            tag: Setting::default(),
            session_type: Setting::default(),
            ignored: Setting::default(),
            canonicalize: Setting::default(),
            original: request.host.as_ref().map_or(Name::Any, known),
            final_host: None,
            wants_final: false,
        };
        if let Some(user) = &request.remote_user {
            let typed = Location::whole(Path::new("command line"));
            client.user.offer(Activity::Yes, user.as_bytes(), &typed);
        }
        client
    }

    /// `-c` beats `-o`, in whatever order they are typed.
    fn command_line(&mut self) {
        let path = Path::new("command line");
        if let Some(list) = &self.request.ciphers {
            self.dash_c(list.as_bytes(), Location::whole(path));
        }
        for option in &self.request.options {
            let tree = syntax::parse(option.as_str(), self.dialect);
            self.lines(&tree, &Place::top(path, true, Activity::Yes));
        }
    }

    /// Not cut into words, and without the form that removes.
    fn dash_c(&mut self, list: &[u8], location: Location) {
        let kind = Kind::Ciphers;
        let family = self.lists.family(kind);
        let name = match list.first() {
            Some(b'-') => Some(list),
            _ => family.refused_name(list),
        };
        if let Some(name) = name {
            let what = format!("Unknown cipher type '{}'", show(list));
            let cure = kind.cure(list, name, family);
            self.reading.refuse(location.clone(), &what, cure);
            self.lists.refuse(kind, list, location, what);
        } else {
            let standing = everywhere(Activity::Yes);
            self.lists.offer(kind, &standing, list, location);
        }
    }

    /// Every file once.
    fn pass(&mut self, active: Activity) {
        match &self.request.files {
            ClientFiles::None => {}
            ClientFiles::Only(path) => self.only(path, active),
            ClientFiles::Usual { user, system } => {
                for (path, is_user) in [(user, true), (system, false)] {
                    if let Some(path) = path {
                        self.usual(path, is_user, active);
                    }
                }
            }
        }
    }

    fn only(&mut self, path: &Path, active: Activity) {
        match &*self.reading.read(path) {
            Read::Tree(tree) => self.lines(tree, &Place::top(path, true, active)),
            Read::Missing => {
                self.cannot_open(path, Location::whole(path), "No such file or directory");
            }
            Read::Failed(error) => {
                self.cannot_open(path, Location::whole(path), &error.to_string());
            }
        }
    }

    fn usual(&mut self, path: &Path, user: bool, active: Activity) {
        match &*self.reading.read(path) {
            Read::Tree(tree) => {
                if user {
                    self.check_trust(path);
                }
                self.lines(tree, &Place::top(path, user, active));
            }
            Read::Missing => self.reading.report(
                Severity::Info,
                Location::whole(path),
                "there is no such file",
                "nothing to do: it is optional",
            ),
            Read::Failed(error) => self.reading.report(
                Severity::Warning,
                Location::whole(path),
                &format!("cannot be read ({error}), and ssh skips it silently"),
                "make it readable for its user",
            ),
        }
    }

    pub(super) fn cannot_open(&mut self, path: &Path, location: Location, why: &str) {
        self.reading.refuse(
            location,
            &format!("Can't open user config file {}: {why}", path.display()),
            "make the file readable, or do not name it",
        );
    }

    /// Notes a file whose owner or mode `ssh` does not accept. It is read all the same, to be explained.
    pub(super) fn check_trust(&mut self, path: &Path) {
        let ClientRequest {
            uid,
            private_groups,
            user,
            ..
        } = self.request;
        let Ok(status) = self.reading.files.status(path) else {
            return;
        };
        if !self.reading.is_trusted(&status, *uid, *private_groups) {
            self.reading.refuse(
                Location::whole(path),
                &format!("Bad owner or permissions on {}", path.display()),
                format!("give it to root or to {user}, and let nobody else write it: chmod go-w"),
            );
        }
    }

    pub(super) fn lines(&mut self, tree: &Tree, place: &Place<'_>) {
        let mut standing = place.outer.clone();
        for line in tree.lines() {
            let release = self.request.release;
            self.reading.check_length(release, place.path, line);
            match &line.content {
                Content::Blank | Content::Comment => {}
                Content::Skipped => self.reading.report(
                    Severity::Warning,
                    Location {
                        file: place.path.to_owned(),
                        line: line.number,
                        column: 0,
                    },
                    "a quote is not closed, so ssh skips the line silently",
                    "close or remove the quote",
                ),
                Content::Statement(statement) => {
                    let here = Here {
                        place,
                        tree,
                        line,
                        statement,
                        keyword: statement.keyword.value.to_ascii_lowercase(),
                    };
                    self.statement(&here, &mut standing);
                }
            }
        }
    }

    fn statement(&mut self, here: &Here<'_>, standing: &mut Standing) {
        if here.statement.fault == Some(Fault::NoArgument) {
            let keyword = show(&here.keyword);
            self.reading.refuse(
                here.location(),
                &format!("no argument after keyword \"{keyword}\""),
                keywords::cure_of_encoding(&here.keyword)
                    .unwrap_or("give it a value, or remove the line"),
            );
            return;
        }
        self.check_keyword(here);
        if here.statement.fault == Some(Fault::InvalidQuotes) {
            self.reading
                .refuse(here.location(), "invalid quotes", "close the quote");
            if let Some(kind) = Kind::of(&here.keyword) {
                let rest = here.tree.rest(here.line, here.statement);
                self.lists
                    .refuse(kind, &rest, here.location(), "invalid quotes".into());
            }
            return;
        }
        self.check_comment(here);
        match &*here.keyword {
            b"ciphers" => self.algorithms(here, Kind::Ciphers, standing),
            b"macs" => self.algorithms(here, Kind::Macs, standing),
            b"rekeylimit" => self.rekey_limit(here, standing),
            b"host" => self.host(here, standing),
            b"match" => self.match_block(here, standing),
            b"include" => self.include(here, standing),
            b"hostname" => self.string(here, standing, |client| &mut client.hostname),
            b"user" => self.string(here, standing, |client| &mut client.user),
            b"ignoreunknown" => self.string(here, standing, |client| &mut client.ignored),
            b"canonicalizehostname" => {
                self.string(here, standing, |client| &mut client.canonicalize);
            }
            b"sessiontype" if self.request.release >= Release::new(8, 7) => {
                self.string(here, standing, |client| &mut client.session_type);
            }
            b"tag" if self.request.release >= Release::new(9, 4) => {
                self.string(here, standing, |client| &mut client.tag);
            }
            _ => {}
        }
    }

    /// Before 8.7 there were no comments at the end of a line.
    fn check_comment(&mut self, here: &Here<'_>) {
        let mut more = here.statement.arguments.iter().skip(1);
        let comment = more.find(|word| word.value.starts_with(b"#"));
        let release = self.request.release;
        if let Some(comment) = comment.filter(|_| !self.dialect.modern)
            && keywords::client(release, &here.keyword) == Known::Everywhere
            && !keywords::took_any_words(&here.keyword)
        {
            let what = extra_arguments(self.dialect, &here.keyword, comment);
            let cure = "put the comment on a line of its own";
            self.reading.refuse(here.at(comment), &what, cure);
        }
    }

    fn check_keyword(&mut self, here: &Here<'_>) {
        let release = self.request.release;
        let known = keywords::client(release, &here.keyword);
        if matches!(known, Known::Everywhere | Known::Global) {
            return;
        }
        let keyword = &here.keyword;
        let ignored = self.ignored.compare(|list| {
            let lower = list.map(<[u8]>::to_ascii_lowercase);
            lower
                .is_some_and(|list| patterns::list_matches(keyword, &list))
                .into()
        });
        let severity = match (ignored, known) {
            (Activity::Yes, _) => return,
            (Activity::No, Known::No | Known::Since(_)) => Severity::Error,
            _ => Severity::Warning,
        };
        let name = show(keyword);
        self.reading.report(
            severity,
            here.location(),
            &format!("Bad configuration option: {name}"),
            match (severity, known) {
                _ if let Some(cure) = keywords::cure_of_encoding(keyword) => cure.to_owned(),
                (Severity::Error, Known::Since(since)) => format!(
                    "remove the line, or put IgnoreUnknown {name} above it: {since} brought {name}, and this is {release}"
                ),
                (Severity::Error, _) => format!(
                    "correct or remove the line: {release} does not know {name} (or put IgnoreUnknown {name} above it)"
                ),
                _ => format!("check with ssh -G that your ssh knows {name}"),
            },
        );
    }

    /// The value of a keyword that takes exactly one, or a problem.
    fn single<'t>(&mut self, here: &Here<'t>) -> Result<&'t Token, String> {
        let arguments = &here.statement.arguments;
        let Some(first) = arguments.first().filter(|first| !first.value.is_empty()) else {
            let what = "Missing argument.";
            self.reading
                .refuse(here.location(), what, "give it a value, or remove the line");
            return Err(what.into());
        };
        match arguments.get(1) {
            None => Ok(first),
            Some(second) => {
                let what = extra_arguments(self.dialect, &here.keyword, second);
                let cure = extra_cure(first, second);
                self.reading.refuse(here.at(second), &what, cure);
                Err(what)
            }
        }
    }

    fn string(
        &mut self,
        here: &Here<'_>,
        standing: &Standing,
        setting: fn(&mut Self) -> &mut Setting,
    ) {
        if let Ok(token) = self.single(here) {
            let location = here.at(token);
            setting(self).offer(standing.active, &token.value, &location);
        }
    }

    /// Its second word, a time, costs one key exchange in that time and is not looked at.
    fn rekey_limit(&mut self, here: &Here<'_>, standing: &Standing) {
        if let Some(token) = here.statement.arguments.first() {
            let location = here.at(token);
            let rekey = &mut self.lists.rekey;
            rekey.offer(standing.active, &token.value, &location);
        }
    }

    fn algorithms(&mut self, here: &Here<'_>, kind: Kind, standing: &Standing) {
        let checked = self.single(here);
        let Some(token) = here.statement.arguments.first() else {
            return;
        };
        let location = here.at(token);
        let family = self.lists.family(kind);
        let refused = family.refused_name(&token.value);
        if let Some(name) = refused.filter(|_| !token.value.is_empty()) {
            let what = kind.complaint(false, &show(&token.value));
            let cure = kind.cure(&token.value, name, family);
            self.reading.refuse(location.clone(), &what, cure);
            self.lists.refuse(kind, &token.value, location, what);
        } else if let Err(why) = checked {
            self.lists.refuse(kind, &token.value, location, why);
        } else {
            self.lists.offer(kind, standing, &token.value, location);
        }
    }

    fn host(&mut self, here: &Here<'_>, standing: &mut Standing) {
        let never = here.place.outer.active == Activity::No;
        let name = self.final_host.as_ref().unwrap_or(&self.original);
        let mut active = Activity::No;
        let mut empty = false;
        for argument in &here.statement.arguments {
            if argument.value.is_empty() {
                empty = true;
                break;
            }
            if never {
                break;
            }
            let (pattern, negated) = match argument.value.strip_prefix(b"!") {
                Some(pattern) => (pattern, true),
                None => (&*argument.value, false),
            };
            match (name.matches(pattern), negated) {
                (Activity::Yes, true) => {
                    active = Activity::No;
                    break;
                }
                (Activity::Maybe, true) => active = active.min(Activity::Maybe),
                (answer, false) => active = active.max(answer),
                (Activity::No, true) => {}
            }
        }
        *standing = enter(here, active);
        if empty {
            self.empty_argument(here);
        }
    }

    pub(super) fn empty_argument(&mut self, here: &Here<'_>) {
        let keyword = show(&here.keyword);
        self.reading.refuse(
            here.location(),
            &format!("keyword {keyword} empty argument"),
            "remove the empty quotes",
        );
    }

    fn match_block(&mut self, here: &Here<'_>, standing: &mut Standing) {
        let mut words = here.tree.words(here.line, here.statement);
        match self.matches(&mut words, &here.location()) {
            Ok(active) => {
                *standing = enter(here, active);
                if !words.is_finished() {
                    self.reading.refuse(
                        here.location(),
                        "keyword match extra arguments at end of line",
                        "remove what follows the empty word",
                    );
                }
            }
            Err(bad) => self.reading.refuse(
                here.location(),
                &format!("{}; Bad Match condition", bad.what),
                bad.cure,
            ),
        }
    }
}

impl<'p> Place<'p> {
    fn top(path: &'p Path, user: bool, active: Activity) -> Self {
        Self {
            path,
            user,
            depth: 0,
            outer: everywhere(active),
        }
    }
}

fn everywhere(active: Activity) -> Standing {
    Standing {
        active,
        block: None,
    }
}

/// Where a line stands after a Host or Match line: never more active than what includes the file.
fn enter(here: &Here<'_>, active: Activity) -> Standing {
    let outer = &here.place.outer;
    if outer.active == Activity::No {
        return outer.clone();
    }
    Standing {
        active: active.min(outer.active),
        block: Some(here.location()),
    }
}

/// The program's complaint about a word too many.
pub(super) fn extra_arguments(dialect: Dialect, keyword: &[u8], extra: &Token) -> String {
    if dialect.modern {
        format!("keyword {} extra arguments at end of line", show(keyword))
    } else {
        format!("garbage at end of line; \"{}\".", show(&extra.value))
    }
}

pub(super) fn extra_cure(first: &Token, second: &Token) -> &'static str {
    if first.value.ends_with(b",") || second.value.starts_with(b",") {
        "remove the blanks: a list has commas only"
    } else {
        "remove what follows the first value"
    }
}
