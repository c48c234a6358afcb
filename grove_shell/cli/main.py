"""The command group. It imports the module of a command when that command is used, so that help is fast (P10)."""

import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from types import FrameType
from typing import Final

import click

from grove_shell.cli.options import FILE_NAME
from grove_shell.exit_codes import DONE, ERROR, INTERRUPTED, USAGE, CommandFailed
from grove_shell.python_gc import python_gc_paused


@contextmanager
def exit_on_sigterm() -> Iterator[None]:
    """Exit with 0 on SIGTERM, until the command installs its own handler (OP-033).

    The kernel drops SIGTERM for the first process of a container while it has no handler, so the kubelet would wait
    for the grace period and then kill it.
    """
    if threading.current_thread() is not threading.main_thread():  # only the main thread may set handlers
        yield
        return
    before = signal.signal(signal.SIGTERM, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)
        _discard_unwritable_stderr()


def _leave(_number: int, _frame: FrameType | None) -> None:
    """Exit at once: nothing was started, and a normal exit would wait for a thread in a DNS lookup."""
    os._exit(DONE)


_COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "plan": ("plan", "show what the operator will do, when, and why"),
    "tree": ("tree", "show sets as trees: replicas, scaling groups, PodCliques and pods, with states and deadlines"),
    "watch": ("watch", "show the plan on a screen that follows the cluster, with clocks that run"),
    "explain": ("decision", "show why one object is as it is"),
    "why": ("why", "show what happened: which gangs went, when, and why, from an audit log, dumps and Events"),
    "compare": ("decision", "compare two rule sets: which gangs does only one of them terminate"),
    "validate": ("decision", "check whether manifests would be admitted"),
    "policy": ("policy", "test policies for grove plan --policy, list and print ready ones"),
    "topology": ("topology", "list topologies and their users, rehearse a change, check whether a set fits"),
    "simulate": ("experiment", "play events and faults in virtual time"),
    "converge": ("experiment", "measure how long daemons of a ComputeDomain need to find each other"),
    "example": ("example_and_schema", "print an example to begin with"),
    "schema": ("example_and_schema", "print a JSON Schema of manifests for editors"),
    "rules": ("printing", "list the rule sets, or print one rule"),
    "snapshot": ("printing", "capture a cluster into a file"),
    "apply": ("plan", "execute a saved plan exactly, or refuse"),
    "operator": ("process", "run the operator: follow a cluster and act"),
    "replay": ("decision", "repeat the decisions of a decision log offline"),
    "webhooks": ("process", "serve the admission webhooks: defaults and validation of PodCliqueSets"),
    "daemon": ("process", "run one daemon of a ComputeDomain: register, find the peers"),
    "domain-controller": ("process", "run the controller of ComputeDomains: stale entries, summary, status"),
    "manifests": ("printing", "print the manifests that install Grove"),
    "completion": ("printing", "print a shell completion script"),
}
"""Command -> the beginning of the name of its module, and its meaning."""
_ALIASES: Final[Mapping[str, str]] = {"upgrade-check": "compare"}
_SERVING: Final = frozenset({"operator", "webhooks", "daemon", "domain-controller"})
_LONG_RUNNING: Final = _SERVING | {"simulate", "converge", "apply", "watch"}
_SHORT: Final = (_COMMANDS.keys() | _ALIASES.keys()) - _LONG_RUNNING
"""Commands that print a result and exit. The cyclic collector is off for them: it took a tenth of the time of a plan
(P11, CL-003)."""


class _Commands(click.Group):
    """A group that imports the module of a command when the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click calls it by position
        name = _ALIASES.get(cmd_name, cmd_name)
        if name not in _COMMANDS:
            return None
        module = import_module(f"grove_shell.cli.{_COMMANDS[name][0]}_commands")
        command: click.Command = getattr(module, f"{name.replace('-', '_')}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click calls it by position
        with formatter.section("Commands"):
            also = {name: f" (also: {alias})" for alias, name in _ALIASES.items()}
            formatter.write_dl([(name, meaning + also.get(name, "")) for name, (_, meaning) in _COMMANDS.items()])


def _print_version(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 - click's
    if wanted:
        from grove_core.version import VERSION

        click.echo(f"grove {VERSION}")
        ctx.exit()


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Show the version."
)
def grove() -> None:
    """Predict what the Grove operator will do to a cluster, when, and why.

    \b
    kubectl get pcs,pcsg,pclq,pods,podgangs -n ml -o json > cluster.json
    grove plan -f cluster.json
    """


def _discard_unwritable_stderr() -> None:
    """Replace an unwritable standard error; else the interpreter flushes it and exits with another code (OP-064)."""
    try:
        if sys.stderr is not None:
            sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _discard_stdout() -> None:
    """Redirect standard output to the null device, so that the interpreter does not report a broken pipe at exit."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_usage_error(fault: click.ClickException) -> None:
    if sys.stderr is not None:
        fault.show()


def _with_file_hint(fault: click.UsageError, arguments: Sequence[str], name: str) -> click.UsageError:
    """Add the command to write to the fault of a file that is given without ``-f`` (CL-009)."""
    takes_files = fault.ctx is not None and any(param.name == "filenames" for param in fault.ctx.command.params)
    bare = [place for place in range(1, len(arguments)) if _is_bare_file(arguments[place - 1], arguments[place])]
    is_missing = (
        isinstance(fault, click.MissingParameter) and fault.param is not None and fault.param.name == "filenames"
    )
    is_extra = "unexpected extra argument" in fault.message or "give -f FILE" in fault.message
    if takes_files and bare and (is_missing or is_extra):
        written = [f"-f {one}" if place in bare else one for place, one in enumerate(arguments)]
        return click.UsageError(f"files are given with -f; write: {name} {' '.join(written)}", fault.ctx)
    return fault


def _is_bare_file(before: str, argument: str) -> bool:
    """Whether an argument that is no value of the option before it is the name of a file."""
    return not before.startswith("-") and not argument.startswith("-") and FILE_NAME.search(argument) is not None


def _context_of(command: str) -> AbstractContextManager[None]:
    """Return the context to run a command in: SIGTERM handling for servers, no cyclic collector for short commands."""
    if command in _SERVING:
        return exit_on_sigterm()
    return python_gc_paused() if command in _SHORT else nullcontext()


def run_command_line(arguments: Sequence[str], name: str) -> int:
    """Run one command and return its exit code; click's own usage errors become 64 (CL-001)."""
    try:
        with _context_of("".join(arguments[:1])):
            code = grove.main(list(arguments), prog_name=name, standalone_mode=False)
    except click.exceptions.UsageError as fault:
        _print_usage_error(_with_file_hint(fault, arguments, name))
        return USAGE
    except OSError as fault:
        _discard_stdout()
        click.echo(f"cannot write {fault.filename or 'the output'}: {fault.strerror or fault}", err=True)
        return ERROR
    except click.ClickException as fault:
        _print_usage_error(fault)
        return ERROR
    except CommandFailed as fault:
        from grove_shell.styled_text_page import print_error

        print_error(fault)
        return ERROR
    except (click.exceptions.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    return code if isinstance(code, int) else DONE
