//! Where a new order goes, on real trees of files.
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;

use advisor::files::{Files, SystemFiles};
use advisor::layout::Layout;
use advisor::plan::{Edit, Plan, PlanRequest, Reader, Refusal, Target, plan, unified_diff};
use advisor::policy::Form;
use advisor::resolver::{
    ClientFiles, ClientRequest, Effective, ServerRequest, Side, resolve_client, resolve_server,
};
use engine::installed::releases::Release;
use tempfile::TempDir;

use crate::report::{CHACHA20, GCM128, GCM256, owned};

const RELEASE: Release = Release::new(9, 2);
/// The default with AES-GCM moved to the front.
const ORDER: [&str; 6] = [
    GCM128,
    GCM256,
    CHACHA20,
    "aes128-ctr",
    "aes192-ctr",
    "aes256-ctr",
];
const USER: &str = "/home/me/.ssh/config";
const CLIENT: &str = "/etc/ssh/ssh_config";
const SERVER: &str = "/etc/ssh/sshd_config";

/// A tree, and other programs that read its files.
struct Tree(TempDir, Vec<Reader>);

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        let tree = Self(tempfile::tempdir().unwrap(), Vec::new());
        fs::create_dir_all(tree.path("/etc/ssh")).unwrap();
        for (path, text) in files {
            let real = tree.path(path);
            fs::create_dir_all(real.parent().unwrap()).unwrap();
            fs::write(real, text).unwrap();
        }
        tree
    }

    fn path(&self, inside: &str) -> std::path::PathBuf {
        self.0.path().join(inside.trim_start_matches('/'))
    }

    fn files(&self) -> SystemFiles {
        SystemFiles::new(self.0.path()).unwrap()
    }

    fn plan(
        &self,
        target: Target,
        side: Side,
        order: &[&str],
        form: Form,
    ) -> Result<Plan, Refusal> {
        let files = self.files();
        let resolve = |files: &dyn Files| resolve(files, &target, side);
        let effective = resolve(&files);
        plan(&PlanRequest {
            layout: &Layout::unix(),
            files: &files,
            effective: &effective,
            target: target.clone(),
            order: &owned(order),
            readers: &self.1,
            force_managed: false,
            form,
            release: RELEASE,
            supported: &ServerRequest::new(RELEASE).supported.ciphers,
            resolve: &resolve,
        })
    }

    fn client(&self) -> Result<Plan, Refusal> {
        self.plan(
            Target::System(CLIENT.into()),
            Side::Client,
            &ORDER,
            Form::Auto,
        )
    }

    fn server(&self) -> Result<Plan, Refusal> {
        self.plan(
            Target::System(SERVER.into()),
            Side::Server,
            &ORDER,
            Form::Auto,
        )
    }

    fn user(&self) -> Result<Plan, Refusal> {
        self.plan(Target::User(USER.into()), Side::Client, &ORDER, Form::Auto)
    }
}

fn resolve(files: &dyn Files, target: &Target, side: Side) -> Effective {
    // Files of a test belong to whoever runs it.
    let uid = files.status(Path::new("/etc/ssh")).unwrap().uid;
    match side {
        Side::Server => resolve_server(files, &ServerRequest::new(RELEASE)),
        Side::Client => {
            let user = match target {
                Target::User(main) => Some(main.clone()),
                Target::System(_) => None,
            };
            let request = ClientRequest {
                files: ClientFiles::Usual {
                    user,
                    system: Some(CLIENT.into()),
                },
                home: "/home/me".into(),
                uid,
                ..ClientRequest::new(RELEASE)
            };
            resolve_client(files, &request)
        }
    }
}

fn only(plan: Plan) -> Edit {
    let [edit]: [Edit; 1] = plan.edits.try_into().unwrap();
    edit
}

fn after(edit: &Edit) -> &str {
    std::str::from_utf8(&edit.after).unwrap()
}

const DEBIAN: &str = "# This is the ssh client system-wide configuration file.\n\nInclude /etc/ssh/ssh_config.d/*.conf\n\nHost *\n#   Ciphers aes128-ctr,aes192-ctr\n    SendEnv LANG LC_*\n    HashKnownHosts yes\n";

#[test]
fn debians_stock_client_gets_a_drop_in() {
    let tree = Tree::new(&[
        (CLIENT, DEBIAN),
        ("/etc/ssh/ssh_config.d/20-proxy.conf", "ProxyCommand none\n"),
    ]);
    let edit = only(tree.client().unwrap());
    insta::assert_snapshot!(unified_diff(&edit), @r"
    --- /dev/null
    +++ /etc/ssh/ssh_config.d/10-cipher-advisor.conf
    @@ -0,0 +1,2 @@
    +# Written by cipher-advisor. The first Ciphers line ssh reads wins.
    +Ciphers ^aes128-gcm@openssh.com,aes256-gcm@openssh.com
    ");
}

#[test]
fn a_server_gets_a_drop_in_too() {
    let stock = "Include /etc/ssh/sshd_config.d/*.conf\nUsePAM yes\n";
    let tree = Tree::new(&[
        (SERVER, stock),
        ("/etc/ssh/sshd_config.d/50-x.conf", "X11Forwarding no\n"),
    ]);
    let edit = only(tree.server().unwrap());
    assert_eq!(
        edit.path,
        Path::new("/etc/ssh/sshd_config.d/10-cipher-advisor.conf")
    );
    assert!(after(&edit).ends_with("\nCiphers ^aes128-gcm@openssh.com,aes256-gcm@openssh.com\n"));
}

#[test]
fn the_winning_line_is_edited_in_place_with_its_style() {
    let text = "# site\r\n\tCiphers = \"chacha20-poly1305@openssh.com,aes128-ctr,aes192-ctr,aes256-ctr,aes128-gcm@openssh.com,aes256-gcm@openssh.com\"  # ours\r\nUsePAM yes\r\n";
    let tree = Tree::new(&[(SERVER, text)]);
    let edit = only(tree.server().unwrap());
    assert_eq!(
        after(&edit),
        format!(
            "# site\r\n\tCiphers = {}  # ours\r\nUsePAM yes\r\n",
            ORDER.join(",")
        )
    );
    assert_eq!(edit.before.as_deref(), Some(text.as_bytes()));
}

#[test]
fn a_caret_line_stays_one_and_a_list_stays_a_list() {
    let tree = Tree::new(&[(CLIENT, "Ciphers ^aes256-ctr\n")]);
    assert_eq!(
        after(&only(tree.client().unwrap())),
        "Ciphers ^aes128-gcm@openssh.com,aes256-gcm@openssh.com\n"
    );
    let target = || Target::System(CLIENT.into());
    let list = tree
        .plan(target(), Side::Client, &ORDER, Form::List)
        .unwrap();
    assert_eq!(after(&only(list)), format!("Ciphers {}\n", ORDER.join(",")));
    let short = [GCM128, "aes256-ctr"];
    let tree = Tree::new(&[(CLIENT, "Ciphers aes256-ctr,aes128-gcm@openssh.com\n")]);
    let caret = tree
        .plan(target(), Side::Client, &short, Form::Caret)
        .unwrap();
    assert_eq!(
        after(&only(caret)),
        "Ciphers aes128-gcm@openssh.com,aes256-ctr\n",
        "a caret would bring the other ciphers back"
    );
}

#[test]
fn without_a_directory_the_line_goes_above_the_first_block() {
    let tree = Tree::new(&[(CLIENT, DEBIAN)]);
    let edit = only(tree.client().unwrap());
    insta::assert_snapshot!(unified_diff(&edit), @r"
    --- /etc/ssh/ssh_config
    +++ /etc/ssh/ssh_config
    @@ -2,6 +2,7 @@
     
     Include /etc/ssh/ssh_config.d/*.conf
     
    +Ciphers ^aes128-gcm@openssh.com,aes256-gcm@openssh.com
     Host *
     #   Ciphers aes128-ctr,aes192-ctr
         SendEnv LANG LC_*
    ");
}

#[test]
fn an_include_inside_a_block_is_no_place_for_a_drop_in() {
    let text = "Match all\nInclude /etc/ssh/sshd_config.d/*.conf\n";
    let tree = Tree::new(&[(SERVER, text), ("/etc/ssh/sshd_config.d/x.conf", "")]);
    let edit = only(tree.server().unwrap());
    assert_eq!(edit.path, Path::new(SERVER));
    assert!(after(&edit).starts_with("Ciphers ^"));
}

#[test]
fn a_user_without_a_file_gets_one() {
    let tree = Tree::new(&[(CLIENT, DEBIAN)]);
    let edit = only(tree.user().unwrap());
    assert_eq!(edit.path, Path::new(USER));
    assert_eq!(edit.before, None);
    assert_eq!(
        after(&edit),
        "Ciphers ^aes128-gcm@openssh.com,aes256-gcm@openssh.com\n"
    );
}

#[test]
fn a_users_line_overrules_the_machines_and_leaves_it_alone() {
    let tree = Tree::new(&[
        (
            CLIENT,
            "Ciphers chacha20-poly1305@openssh.com,aes128-ctr,aes192-ctr,aes256-ctr,aes128-gcm@openssh.com,aes256-gcm@openssh.com\n",
        ),
        (USER, "# mine\n\n# work\nHost work\n    User me\n"),
    ]);
    let edit = only(tree.user().unwrap());
    assert_eq!(edit.path, Path::new(USER));
    let expected = format!(
        "# mine\n\nCiphers {}\n# work\nHost work\n    User me\n",
        ORDER.join(",")
    );
    assert_eq!(after(&edit), expected);
}

#[test]
fn host_star_is_for_all_and_is_edited_in_place() {
    let tree = Tree::new(&[(
        USER,
        "Host old\n    Port 2\nHost *\n    Ciphers ^aes256-ctr\n",
    )]);
    let edit = only(tree.user().unwrap());
    assert_eq!(
        after(&edit),
        "Host old\n    Port 2\nHost *\n    Ciphers ^aes128-gcm@openssh.com,aes256-gcm@openssh.com\n"
    );
}

#[test]
fn lines_for_some_hosts_are_not_overruled() {
    let tree = Tree::new(&[(USER, "Host old\n    Ciphers +3des-cbc\n")]);
    insta::assert_snapshot!(
        tree.user().unwrap_err(),
        @"/home/me/.ssh/config:2:13: this line gives some hosts a list of their own, and a new line before it would overrule it; put at the very end of /home/me/.ssh/config, by hand: Host * and below it Ciphers ^aes128-gcm@openssh.com,aes256-gcm@openssh.com"
    );
}

#[test]
fn what_a_command_decides_is_refused() {
    let tree = Tree::new(&[(USER, "Match exec \"true\"\n    Ciphers aes128-ctr\n")]);
    let refusal = tree.user().unwrap_err().to_string();
    assert!(
        refusal.contains("which Ciphers line counts depends on a command or the network"),
        "{refusal}"
    );
}

#[test]
fn a_refused_configuration_is_fixed_first() {
    let tree = Tree::new(&[(SERVER, "UsePAM yes\nCiphers aes128-gcm\n")]);
    let refusal = tree.server().unwrap_err().to_string();
    assert!(refusal.starts_with("/etc/ssh/sshd_config:2:"), "{refusal}");
    assert!(refusal.ends_with("then run this again"), "{refusal}");
}

#[test]
fn managed_files_are_left_to_their_manager() {
    let line = format!("Ciphers {}\n", crate::report::DEFAULT.join(","));
    let policy = "/etc/crypto-policies/back-ends/opensshserver.config";
    let tree = Tree::new(&[(SERVER, &format!("Include {policy}\n")), (policy, &line)]);
    let refusal = tree.server().unwrap_err().to_string();
    assert!(refusal.contains("update-crypto-policies"), "{refusal}");
    let tree = Tree::new(&[
        ("/usr/etc/ssh/vendor.conf", &line),
        (SERVER, "Include /usr/etc/ssh/vendor.conf\n"),
    ]);
    let refusal = tree.server().unwrap_err().to_string();
    assert!(refusal.contains("belongs to a package"), "{refusal}");
}

#[test]
fn a_cipher_the_binary_lacks_is_never_written() {
    let tree = Tree::new(&[]);
    let order = [GCM128, "chacha20-poly1305-mt@hpnssh.org"];
    let target = Target::System(CLIENT.into());
    let refusal = tree
        .plan(target, Side::Client, &order, Form::List)
        .unwrap_err();
    assert!(
        refusal
            .to_string()
            .contains("does not list chacha20-poly1305-mt@hpnssh.org")
    );
}

/// An older `ssh` of another machine on the same home.
fn older(release: Release, ciphers: &[&str]) -> Reader {
    Reader {
        path: "/opt/old/bin/ssh".into(),
        release,
        ciphers: owned(ciphers),
    }
}

#[test]
fn an_older_program_on_the_same_home_gets_a_form_it_knows() {
    let mut tree = Tree::new(&[(CLIENT, DEBIAN)]);
    for (release, caret) in [(Release::new(8, 0), false), (Release::new(8, 1), true)] {
        tree.1 = vec![older(release, &ORDER)];
        let written = only(tree.user().unwrap());
        assert_eq!(after(&written).contains('^'), caret, "{release}");
    }
}

#[test]
fn a_cipher_that_another_program_on_the_same_home_lacks_is_not_written() {
    let mut tree = Tree::new(&[(CLIENT, DEBIAN)]);
    tree.1 = vec![older(Release::new(8, 4), &[GCM128, GCM256])];
    // The caret names those two only.
    tree.user().unwrap();
    tree.1 = vec![older(Release::new(7, 4), &[GCM128, GCM256])];
    insta::assert_snapshot!(
        tree.user().unwrap_err(),
        @"/opt/old/bin/ssh: this ssh reads /home/me/.ssh/config too, and would refuse to start on chacha20-poly1305@openssh.com, which it does not know; update it, take it out of PATH, or put the order into the system's file of this machine"
    );
    tree.1 = vec![older(Release::new(7, 4), &[])];
    assert!(
        !after(&only(tree.user().unwrap())).contains('^'),
        "it could not be asked"
    );
}

#[test]
fn an_order_in_force_needs_no_edit() {
    let tree = Tree::new(&[(CLIENT, &format!("Ciphers {}\n", ORDER.join(",")))]);
    assert!(tree.client().unwrap().edits.is_empty());
}

#[test]
fn a_new_drop_in_never_hides_behind_an_included_line() {
    let tree = Tree::new(&[
        (CLIENT, DEBIAN),
        ("/etc/ssh/ssh_config.d/05-a.conf", "Ciphers ^aes256-ctr\n"),
    ]);
    let edit = only(tree.client().unwrap());
    assert_eq!(edit.path, Path::new("/etc/ssh/ssh_config.d/05-a.conf"));
}
