#!/usr/bin/python
# -*- coding: utf-8 -*-
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Puts the fastest order of SSH ciphers into the configuration, with the advisor command of the target."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: cipher_advisor
short_description: Put the fastest order of SSH ciphers into the configuration
description:
  - Runs C(advisor) on the target. It measures, or takes saved figures, recommends an order of SSH ciphers,
    asks the installed C(ssh) and C(sshd) about the whole candidate, and writes it, or nothing.
  - Supports check mode and diff mode. A second run changes nothing.
options:
  advisor:
    description: The command, as a path or a name to look up on the target.
    type: str
    default: advisor
  side:
    description: Whose list is changed. The client's order decides what is negotiated.
    type: str
    choices: [client, server, both]
    default: client
  policy:
    description: A policy file on the target, or the name of a built-in policy.
    type: str
  profile:
    description: What the machine mostly does over SSH.
    type: str
    choices: [bulk, mixed, interactive]
  evidence:
    description: What the recommendation may rest on.
    type: str
    choices: [transfer, packet, native, auto]
    default: auto
  measurements:
    description: A report on the target, saved with C(advisor --save) on the same kind of hardware.
    type: path
  time_budget:
    description: Time for measuring, like C(10s).
    type: str
  root:
    description: The tree to read and write in place of C(/), for building images.
    type: path
  ssh_config:
    description: The client's file, in place of C(/etc/ssh/ssh_config).
    type: path
  sshd_config:
    description: The server's file, in place of C(/etc/ssh/sshd_config).
    type: path
  user_config:
    description: Work on C(~/.ssh/config) also as root.
    type: bool
    default: false
  ssh:
    description: The C(ssh) to ask.
    type: path
  sshd:
    description: The C(sshd) to ask.
    type: path
  force_managed:
    description: Also change files whose header says that another tool writes them.
    type: bool
    default: false
  validate:
    description: Ask the installed programs about the candidate before anything is written.
    type: bool
    default: true
  reload:
    description:
      - Have the running C(sshd) take up a changed list, and everything taken back if it does not.
      - Needs I(side) to be server or both.
    type: bool
    default: false
author:
  - cipher-advisor
"""

EXAMPLES = r"""
- name: The fastest ciphers first, for ssh of every user
  cipher_advisor:

- name: On figures of the hardware the image is for
  cipher_advisor:
    side: both
    root: /mnt/image
    measurements: /srv/figures/c7i.json
"""

RETURN = r"""
before:
  description: The list of each side before.
  returned: success
  type: dict
after:
  description: The list of each side afterwards, or what it would be in check mode.
  returned: success
  type: dict
files:
  description: The files that were written, or would be.
  returned: success
  type: list
backup:
  description: Where the old bytes of each file are kept.
  returned: changed
  type: dict
evidence:
  description: What the order rests on, in one sentence.
  returned: success
  type: str
reloaded:
  description: What became of the running sshd, in one sentence.
  returned: when reload is asked for
  type: str
"""

import json
import os
import tempfile

from ansible.module_utils.basic import AnsibleModule

# Exit codes of the command.
FINE, DIFFERS = 0, 1

VALUES = [
    "side", "policy", "profile", "evidence", "time_budget", "root", "ssh_config", "sshd_config", "ssh", "sshd",
]
FLAGS = ["user_config", "force_managed"]


def option(name):
    """The command's name of an option of this module."""
    return "--" + name.replace("_", "-")


def common(params):
    """What every run of the command is given."""
    arguments = []
    for name in VALUES:
        if params[name] is not None:
            arguments += [option(name), params[name]]
    return arguments + [option(name) for name in FLAGS if params[name]]


def run(module, arguments, accepted):
    """Runs the command. Gives its exit code and its document."""
    command = [module.params["advisor"], "--json"] + arguments
    code, out, err = module.run_command(command)
    if code not in accepted:
        module.fail_json(msg=err.strip() or out.strip(), rc=code, cmd=command)
    try:
        return code, json.loads(out), err
    except ValueError as error:
        module.fail_json(msg="advisor printed no document: %s" % error, cmd=command, stdout=out)


def lists(document, part, key):
    """The lists of the sides that are asked for."""
    found = {}
    for side in document["sides"]:
        of_side = (document.get(part) or {}).get(side)
        if of_side:
            found[side] = of_side[key]
    return found


def result(document, err):
    """What is told of a document."""
    changes = document["changes"]
    return {
        "after": lists(document, "recommendation", "order"),
        "files": [change["file"] for change in changes],
        "evidence": document["recommendation"]["basis"],
        "findings": [finding["id"] for finding in document["findings"]],
        "warnings": [line for line in err.splitlines() if "WARNING" in line],
        "diff": [{"prepared": change["diff"]} for change in changes],
    }


def work(module, saved):
    """Looks first, on figures that are kept, and writes on the same figures."""
    params = module.params
    figures = [] if params["measurements"] is None else ["--measurements", params["measurements"]]
    asked = common(params)
    code, document, err = run(module, asked + figures + ["--check", "--save", saved], [FINE, DIFFERS])
    told = result(document, err)
    told["before"] = lists(document, "configuration", "effective")
    told["changed"] = code == DIFFERS
    if code == DIFFERS and document["refusals"]:
        module.fail_json(msg="; ".join(document["refusals"]), **told)
    if module.check_mode or (code == FINE and not params["reload"]):
        module.exit_json(**told)
    how = ["--apply"]
    how += [] if params["validate"] else ["--no-validate"]
    how += ["--reload"] if params["reload"] else []
    written = run(module, asked + ["--measurements", saved] + how, [FINE])[1]
    told["changed"] = written["changed"]
    told["backup"] = dict((it["file"], it["backup"]) for it in written["changes"] if it["backup"])
    told["reloaded"] = written["reloaded"]
    module.exit_json(**told)


def main():
    kinds = {
        "advisor": {"type": "str", "default": "advisor"},
        "side": {"type": "str", "choices": ["client", "server", "both"], "default": "client"},
        "policy": {"type": "str"},
        "profile": {"type": "str", "choices": ["bulk", "mixed", "interactive"]},
        "evidence": {"type": "str", "choices": ["transfer", "packet", "native", "auto"], "default": "auto"},
        "measurements": {"type": "path"},
        "time_budget": {"type": "str"},
        "root": {"type": "path"},
        "ssh_config": {"type": "path"},
        "sshd_config": {"type": "path"},
        "user_config": {"type": "bool", "default": False},
        "ssh": {"type": "path"},
        "sshd": {"type": "path"},
        "force_managed": {"type": "bool", "default": False},
        "validate": {"type": "bool", "default": True},
        "reload": {"type": "bool", "default": False},
    }
    module = AnsibleModule(argument_spec=kinds, supports_check_mode=True)
    descriptor, saved = tempfile.mkstemp(prefix="cipher-advisor-", suffix=".json", dir=module.tmpdir)
    os.close(descriptor)
    module.add_cleanup_file(saved)
    work(module, saved)


if __name__ == "__main__":
    main()
