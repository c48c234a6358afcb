"""``grove why``: what happened, from audit logs, dumps and Events."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from grove_shell.cli.name_completion import complete_why_target
from grove_shell.cli.option_types import RepeatableChoiceOption, TimeOption
from grove_shell.cli.options import (
    cluster_options,
    config_option,
    filename_option,
    html_option,
    output_option,
    rules_option,
)

F = TypeVar("F", bound=Callable[..., Any])


def _paths(option: str, name: str, meaning: str) -> Callable[[F], F]:
    return click.option(option, name, multiple=True, type=click.Path(dir_okay=False), metavar="FILE", help=meaning)


@click.command("why")
@click.argument("target", required=False, metavar="[KIND/NAME]", shell_complete=complete_why_target)
@_paths(
    "--audit",
    "audit",
    "Audit log of the API server, plain or gzip, '-' for standard input; may be repeated, in any order.",
)
@filename_option(
    "Dump from before or in between, as kubectl or grove snapshot prints it; may be repeated.", required=False
)
@_paths("--events", "events", "Events as kubectl get events -o json prints them; may be repeated.")
@click.option("--live", is_flag=True, help="Read the cluster too: its objects as the last dump, and its Events.")
@cluster_options
@click.option("-n", "--namespace", metavar="NS", help="Namespace of the target.  [default: all of the record]")
@config_option
@rules_option()
@click.option("--since", type=TimeOption(), help="Leave out what went before, e.g. 2026-11-29T02:00:00Z.")
@click.option("--until", type=TimeOption(), help="Leave out what went later.")
@click.option(
    "--fail-on",
    type=RepeatableChoiceOption(("terminate", "unknown")),
    multiple=True,
    help="Exit 3 if a gang was terminated, or if a cause is not known or not explained; may be repeated.",
)
@output_option
@click.option("--keep-going", is_flag=True, help="Go on despite problems in the input.")
@html_option
@click.option("-v", "--verbose", is_flag=True, help="List everything.")
def why_command(**options: Any) -> int:
    """Show what happened to a gang: what went, when, by which rule or which client, and what the record leaves open.

    KIND is pcs, pcsg, pclq or pod; without a target all sets of the record are shown.  The states of the past are
    rebuilt from the audit log and the dumps, and the rules of the operator that ran are repeated on them.  Nothing of
    Grove's has to have run there.  Best is an audit log of level RequestResponse with a dump from before it begins.

    \b
    Examples:
      grove why pcs/llama -n ml --audit audit.log
      grove why pclq/llama-0-worker -n ml --audit audit-02.log.gz --audit audit.log -f before.json
      grove why pcs/llama -n ml -f 02-00.json -f 02-15.json       # a series of dumps
      grove why pcs/llama -n ml --live --audit audit.log          # with Events, and the cluster as it is
      grove why --audit audit.log --since 2026-11-29T02:00:00Z --fail-on unknown

    Exit codes: 0 done, 1 bad input, 3 --fail-on, 64 usage or nothing about the target in the record.
    """
    where = {name: options.pop(name) for name in ("kubeconfig", "context", "everywhere")}
    live = options.pop("live")
    if not live and any(where.values()):
        raise click.UsageError("--kubeconfig, --context and -A work only with --live: add --live")
    if not (live or options["audit"] or options["filenames"] or options["events"]):
        raise click.UsageError("nothing to read: give --audit FILE, -f FILE, --events FILE or --live")
    since, until = options["since"], options["until"]
    if since is not None and until is not None and since > until:
        raise click.UsageError("--since is later than --until")
    if where["everywhere"] and options["namespace"] is not None:
        raise click.UsageError("-A (all namespaces) and -n (one namespace) exclude each other")
    from grove_shell.actions.command_input import LiveClusterOptions
    from grove_shell.actions.why import WhyOptions, explain_recorded_deletions

    source = LiveClusterOptions(namespace=options["namespace"], **where) if live else None
    return explain_recorded_deletions(WhyOptions(**options, live=source))
