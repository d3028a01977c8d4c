"""Texts of what the looks at the nodes found, and of what they left open (reporting)."""

from __future__ import annotations

LOOKS_TEXTS: dict[str, str] = {
    "report.heading.looks": "Looks at the nodes",
    "report.looks.gpus": "GPUs",
    "report.looks.nvlink": "NVLink",
    "report.looks.hcas": "HCAs",
    "report.looks.paths": "paths",
    "report.looks.system": "system",
    "report.looks.software": "software",
    "report.looks.free": "free",
    # --- how many of how many ---
    "report.counted.one": "the node",
    "report.counted.both": "both nodes",
    "report.counted.all": "all {n} {n:node|nodes}",
    "report.counted.some": "{n} of {total} {total:node|nodes}",
    # --- a cell ---
    "report.looks.unseen": "not read",
    "report.looks.partly": "{verdict}, {n} not read",
    "report.looks.nothing": "n/a",
    # --- the answer, and what stands around the table ---
    "report.looks.none": "No node was looked at.",
    "report.looks.clear": "Nothing was found against {who}.",
    "report.looks.between": "Of the nodes as a whole: {what}.",
    "report.looks.against": "Something was found against {who}: {names}.",
    "report.looks.unreached": "No look could be taken at {who}: {names}.",
    "report.looks.untouched": "No look was taken at {who}: {names}.",
    "report.looks.left_alone": "Others are using {who}: {names}.",
    "report.looks.how": "The worst of each area; nodes that look alike share a row. What was not read is no PASS.",
    "report.looks.more": "{n} more {n:row|rows} in record.json",
    "report.looks.remarks": "Worth knowing, without effect on what was measured:",
    "report.looks.remark_line": "{nodes}: {text}",
    # --- what was not read ---
    "report.looks.not_read": "What the looks leave open:",
    "report.looks.not_read_line": "{hides}: not read: {why}",
    "report.looks.unread_nowhere": "{n} {n:look|looks} could be taken on no node.",
    "report.looks.unread_some": "{n} {n:look|looks} could not be taken on every node.",
    "report.looks.unread_both": "{n} {n:look|looks} could be taken on no node, {some} not on every node.",
    "report.looks.any": "any of {n} {n:node|nodes}",
    "report.unseen.denied": "not permitted on {where} ({needs})",
    "report.unseen.tool_missing": "no tool for it on {where}",
    "report.unseen.not_compared": "not compared with our clock on {where}",
    "report.unseen.unparsable": "no answer that makes sense on {where}",
    "report.unseen.unreachable": "no answer on {where}",
    "report.unseen.no_log": "no log came from {where}",
    "report.needs.root": "needs root",
    "report.needs.kernel": "needs root, or the group adm or systemd-journal",
    "report.needs.other": "this user has no right to it",
    "report.terminal.not_read": "{told} -v and the report say what that hides.",
}
