//! A tree seen as root of that machine sees it: what both sides would use, and what would be planned.
#![forbid(unsafe_code)]

use std::path::Path;

use advisor::examination::Perspective;
use advisor::files::Files;
use advisor::plan::{Plan, PlanRequest, Refusal, plan};
use advisor::policy::Form;
use advisor::resolver::{Effective, Location, Side, Source};
use engine::installed::releases::{Release, supported_ciphers};
use engine::report::{OpenSsh, Program};

use crate::question::Tree;

pub(crate) const MAIN: &str = "etc/ssh/sshd_config";

pub(crate) const POLICY: &str = "/etc/crypto-policies/back-ends/opensshserver.config";

pub(crate) fn programs(version: &str) -> OpenSsh {
    let program = || {
        Some(Program {
            version: version.to_owned(),
            ..Program::default()
        })
    };
    OpenSsh {
        client: program(),
        server: program(),
        ..OpenSsh::default()
    }
}

pub(crate) fn root() -> Perspective {
    Perspective::of_user("root".to_owned(), 0, "/root".into())
}

pub(crate) fn server(tree: &Tree, version: &str) -> Effective {
    root().resolve(&tree.files(), Side::Server, &programs(version), None)
}

pub(crate) fn try_plan(tree: &Tree, side: Side, version: &str) -> Result<Plan, Refusal> {
    let (perspective, programs, files) = (root(), programs(version), tree.files());
    let effective = perspective.resolve(&files, side, &programs, None);
    let release: Release = version.parse().unwrap();
    let supported = supported_ciphers(release).iter();
    let mut order = effective.ciphers.clone();
    order.rotate_left(1);
    plan(&PlanRequest {
        files: &files,
        effective: &effective,
        target: perspective.target(side).clone(),
        layout: &perspective.layout,
        order: &order,
        readers: &[],
        force_managed: false,
        form: Form::Auto,
        release,
        supported: &supported.map(ToString::to_string).collect::<Vec<_>>(),
        resolve: &|files: &dyn Files| perspective.resolve(files, side, &programs, None),
    })
}

pub(crate) fn process(tree: &Tree, number: u32, name: &str, command_line: &[u8]) {
    tree.put(&format!("proc/{number}/comm"), format!("{name}\n"));
    tree.put(&format!("proc/{number}/cmdline"), command_line);
}

pub(crate) fn seen(number: u32) -> Source {
    let file = format!("/proc/{number}/cmdline");
    Source::CommandLine(Location::whole(Path::new(&file)))
}

pub(crate) fn source(answer: &Effective) -> String {
    match &answer.source {
        Source::Line(location) => location.to_string(),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn client(tree: &Tree, version: &str) -> Effective {
    root().resolve(&tree.files(), Side::Client, &programs(version), None)
}
