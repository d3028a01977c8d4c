"""`healthcheck platform detect`: which machine type are these nodes?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from healthcheck.cli import options

if TYPE_CHECKING:
    from healthcheck.workflows.detecting import Detected

EXAMPLE = "Example: healthcheck platform detect -H 'gpu[001-016]'"


def command(
    hosts: options.Hosts = None,
    accept_new_host_keys: options.AcceptNew = False,
    ssh_config: options.SshConfig = None,
    json: options.Json = False,
    simulate: options.Simulate = None,
    platform: Annotated[str | None, typer.Option(help="With --simulate: the machine type of its nodes.")] = None,
    seed: options.Seed = 0,
    leaf_size: options.LeafSize = 8,
    fault: options.Faults = None,
) -> None:
    """Look at the nodes and name the machine type that fits; nothing on them is changed. Exit: 0, or 3 if unclear."""
    from healthcheck.cli.asked import AUTO, Asked, read_inputs
    from healthcheck.cli.document import print_document
    from healthcheck.cli.exits import EXIT_INCONCLUSIVE, out, say
    from healthcheck.cli.signals import stop_on_signals
    from healthcheck.edge.shipped import shipped_platforms
    from healthcheck.errors import InputError
    from healthcheck.model.message import say as message
    from healthcheck.workflows.detecting import detect
    from healthcheck.workflows.engine import Cancel

    if platform is not None and simulate is None:
        raise InputError("--platform", "is what shall be found; it is only for the nodes of --simulate N")
    asked = Asked(
        hosts=hosts,
        platform=platform or AUTO,
        simulate=simulate,
        seed=seed,
        leaf_size=leaf_size,
        faults=tuple(fault or ()),
        ssh_config=ssh_config,
        accept_new_host_keys=accept_new_host_keys,
    )
    inputs, outside = read_inputs(asked)
    if outside.note is not None:
        say(str(message("cli.note", what=outside.note)))
    cancel = Cancel()
    try:
        with stop_on_signals(cancel):
            found = detect(inputs.hosts, shipped_platforms(), outside.transport, cancel)
    finally:
        outside.close()
    code = EXIT_INCONCLUSIVE if found.platform is None else 0
    if json:
        print_document("healthcheck.platform_detect/1", exit_code=code, simulated=outside.simulated, **_fields(found))
    else:
        for line in _lines(found, outside.simulated):
            out(line)
    raise typer.Exit(code)


def _fields(found: Detected) -> dict[str, object]:
    from healthcheck.parsing.record_codec import message_document

    why = found.why
    return {
        "platform": None if found.platform is None else found.platform.name,
        "title": None if found.platform is None else found.platform.title,
        "why": None if why is None else message_document(why),
        "shown": found.shown,
        "unseen": [{"host": one.host, **message_document(one.why)} for one in found.unseen],
    }


def _lines(found: Detected, simulated: bool) -> Iterator[str]:
    """The answer, then what it rests on: every group of nodes that show the same, and who could not be seen."""
    from healthcheck.model.message import say
    from healthcheck.reporting.figures import one_line
    from healthcheck.reporting.names import folded

    if found.platform is not None:
        yield f"{found.platform.name}: {found.platform.title}" + (", simulated" if simulated else "")
    else:
        yield one_line(str(found.why))
    for group in found.shown:
        seen = say("platform.detect.seen", n=len(group.hosts), seen=group.words)
        fits = say("platform.detect.fits", names=", ".join(group.fits)) if group.fits else say("platform.detect.none")
        yield f"  {one_line(f'{folded(group.hosts)}: {seen}; {fits}')}"
    for one in found.unseen:
        yield f"  {one_line(f'{one.host}: {one.why}')}"
