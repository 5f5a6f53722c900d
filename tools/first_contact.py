#!/usr/bin/env python3
"""Learns within half an hour what a machine with an unknown GPU can do, and whether Goryu works on it.

    python3 tools/dev.py first-contact --out contact    all stages, one after the other
    python3 tools/dev.py first-contact --out contact --stage rates --minutes 4
                                                        one of them, within four minutes
    python3 tools/dev.py first-contact --out rehearsal --rehearse
                                                        the same with the CPU in place of the GPU

Each stage runs in a process of its own within its limit. What it finds goes to log.jsonl in the folder, a
JSON line for each event, which is printed, too; report.md tells it after each item. The next call with the
same folder skips what is finished and goes on with the rest. A fault, even a crash, becomes a line of the
report.

Exit status: 0 if all items are done; 1 if some have failed or are left; 2 if nothing could be begun.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from goryu.base.arguments import ArgumentParser
from goryu.base.files import held_folder
from goryu.commands.common import UsageError, above_zero, new_parser, program
from gpu.contact_log import LOG, ContactLog
from gpu.contact_report import REPORT, write_report
from gpu.plan import Contact
from gpu.runner import STAGES, command, supervise

REHEARSAL_SHARE = 0.25
"""Of a stage's limit: a rehearsal takes less than ten minutes."""

QUICK_MINUTES = 1.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("first-contact", make_parser(), run, arguments)


def make_parser() -> ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("contact"),
        metavar="DIR",
        help="folder of log and report (default contact)",
    )
    parser.add_argument(
        "--stage", action="append", choices=STAGES, default=[], help="only this stage; may be repeated"
    )
    parser.add_argument("--minutes", type=above_zero, metavar="N", help="limit of each stage")
    parser.add_argument("--rehearse", action="store_true", help="with the CPU in place of the GPU")
    parser.add_argument(
        "--quick", action="store_true", help="tiny networks: to try the program, not the machine"
    )
    return parser


def run(args: argparse.Namespace) -> int:
    """Runs the stages; returns the exit status."""
    with held_folder(args.out):
        return run_stages(args)


def run_stages(args: argparse.Namespace) -> int:
    """Runs the stages in their folder; returns the exit status."""
    contact = Contact(args.out.resolve(), rehearses=args.rehearse, is_quick=args.quick)
    require_mode(ContactLog(contact.folder / LOG), contact)
    wanted = args.stage or list(STAGES)
    for name in wanted:
        if not ContactLog(contact.folder / LOG).has_ended(name):
            supervise(name, contact.folder, command(contact, name), 60.0 * minutes(args, name))
    log = ContactLog(contact.folder / LOG)
    write_report(log, contact.folder, rehearses=contact.rehearses)
    print(contact.folder / REPORT, file=sys.stderr)
    has_failed = any(event["event"] == "failed" for name in wanted for event in log.results(name))
    return 1 if has_failed or not all(map(log.has_ended, wanted)) else 0


def require_mode(log: ContactLog, contact: Contact) -> None:
    """Raises UsageError if the folder is that of a contact of another kind; notes the kind in a new one."""
    mode = {"stage": "", "event": "mode", "rehearses": contact.rehearses, "is_quick": contact.is_quick}
    if not log.events:
        log.append(mode)
    elif log.events[0] != mode:
        raise UsageError(f"{log.path}: begun with or without --rehearse or --quick, unlike now")


def minutes(args: argparse.Namespace, stage: str) -> float:
    """Returns the limit of a stage."""
    if args.minutes:
        return float(args.minutes)
    usual = STAGES[stage].minutes
    return QUICK_MINUTES if args.quick else usual * REHEARSAL_SHARE if args.rehearse else usual


if __name__ == "__main__":
    raise SystemExit(main())
