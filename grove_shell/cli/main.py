"""The command group: finds a command's module by name, so that help imports only what it shows (P10)."""

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Final

import click

from grove_shell.cli.early_sigterm import exit_on_sigterm
from grove_shell.exits import DONE, ERROR, INTERRUPTED, USAGE
from grove_shell.python_gc import python_gc_paused

_COMMANDS: Final[Mapping[str, str]] = {
    "plan": "what will the controller do, when, and why",
    "explain": "why is this object as it is",
    "compare": "who would end by other rules that is spared today, and the other way round",
    "validate": "would this manifest be admitted",
    "topology": "who uses which topology, what would a change mean, where has a set a place",
    "simulate": "what happens if this happens: events and faults in virtual time",
    "converge": "how long daemons of a ComputeDomain need to find each other",
    "rules": "by whose rules can be judged, and what a rule says",
    "snapshot": "capture a cluster into a file",
    "apply": "carry out exactly a saved plan, or refuse",
    "operator": "do it: follow a cluster and act",
    "replay": "decide again, offline, what an operator decided",
    "webhooks": "serve admission: defaults and validation of PodCliqueSets",
    "daemon": "one daemon of a ComputeDomain: register, find the peers",
    "domain-controller": "keep ComputeDomains: left-over entries, summary, status",
    "manifests": "print what has to be in a cluster before Grove is",
    "completion": "print a script that completes commands in your shell",
}
_ALIASES: Final[Mapping[str, str]] = {"upgrade-check": "compare"}
_SERVING: Final = frozenset({"operator", "webhooks", "daemon", "domain-controller"})
_LONG_RUNNING: Final = _SERVING | {"simulate", "converge", "apply"}
_SHORT: Final = (_COMMANDS.keys() | _ALIASES.keys()) - _LONG_RUNNING
"""Commands that make what they show and end; a tenth of a plan's time went to the collector (P11, CL-016)."""


class _Commands(click.Group):
    """A group whose commands live in modules of their own, imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click calls it by position
        name = _ALIASES.get(cmd_name, cmd_name)
        if name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"grove_shell.cli.{name.replace('-', '_')}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click calls it by position
        with formatter.section("Commands"):
            also = {name: f" (also: {alias})" for alias, name in _ALIASES.items()}
            formatter.write_dl([(name, meaning + also.get(name, "")) for name, meaning in _COMMANDS.items()])


def _print_version(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 - click's
    if wanted:
        from grove_core.version import VERSION

        click.echo(f"grove {VERSION}")
        ctx.exit()


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Show it.")
def grove() -> None:
    """Say before the fact what Grove will do to a cluster, when, and why.

    \b
    kubectl get pcs,pcsg,pclq,pods,podgangs -n ml -o json > cluster.json
    grove plan -f cluster.json
    """


def _discard_stdout() -> None:
    """Let go of a standard output that takes nothing more, or the interpreter complains of it on its way out."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_usage_error(fault: click.ClickException) -> None:
    """On standard error; click would take standard output where the process was started without it."""
    if sys.stderr is not None:
        fault.show()


def _with_file_hint(fault: click.UsageError) -> click.UsageError:
    """Many first write ``grove validate pcs.yaml`` (CL-048)."""
    takes_files = fault.ctx is not None and any(param.name == "filenames" for param in fault.ctx.command.params)
    if takes_files and "unexpected extra argument" in fault.message:
        return click.UsageError(f"{fault.message}; files are given with -f FILE", fault.ctx)
    return fault


def _context_of(command: str) -> AbstractContextManager[None]:
    """What holds while a command of its kind runs."""
    if command in _SERVING:
        return exit_on_sigterm()
    return python_gc_paused() if command in _SHORT else nullcontext()


def run(arguments: Sequence[str], name: str) -> int:
    """Run one command and return its exit code; click's own usage errors become 64 (CL-001)."""
    try:
        with _context_of("".join(arguments[:1])):
            code = grove.main(list(arguments), prog_name=name, standalone_mode=False)
    except click.exceptions.UsageError as fault:
        _print_usage_error(_with_file_hint(fault))
        return USAGE
    except OSError as fault:
        _discard_stdout()
        click.echo(f"cannot write {fault.filename or 'the output'}: {fault.strerror or fault}", err=True)
        return ERROR
    except click.ClickException as fault:
        _print_usage_error(fault)
        return ERROR
    except (click.exceptions.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    return code if isinstance(code, int) else DONE
