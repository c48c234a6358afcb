"""Options that several commands share."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from grove_shell.cli.name_completion import complete_files, complete_set_names
from grove_shell.cli.option_types import CompleteKindsOption, NowOption, RuleSetOption

if TYPE_CHECKING:
    from grove_shell.actions.command_input import InputSource

F = TypeVar("F", bound=Callable[..., Any])


def _stdin_once(_ctx: click.Context, _param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    if value.count("-") > 1:
        raise click.BadParameter("'-' (standard input) may be given once only")
    return value


FILE_NAME: Final = re.compile(r"\.(ya?ml|json)$|/$|^\./")
"""Matches an argument that is the name of a file, and of no set."""


def _no_file(_ctx: click.Context, _param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of sets; that of a file fails with where it belongs (CL-009)."""
    files = [one for one in value if FILE_NAME.search(one)]
    if files:
        raise click.UsageError(f"give -f FILE for a file; {files[0]} is not the name of a PodCliqueSet")
    return value


sets_argument = click.argument(
    "sets", nargs=-1, metavar="[[NS/]SET]...", callback=_no_file, shell_complete=complete_set_names
)
"""The sets to show; none for all."""


def filename_option(meaning: str, *, required: bool = True) -> Callable[[F], F]:
    """``-f``: files, folders or standard input to read."""
    return click.option(
        "-f",
        "--filename",
        "filenames",
        multiple=True,
        required=required,
        metavar="FILE|DIR|-",
        callback=_stdin_once,
        shell_complete=complete_files,
        help=meaning,
    )


config_option = click.option(
    "--config", type=click.Path(), metavar="FILE", help="The operator's configuration (OperatorConfiguration)."
)


policy_option = click.option(
    "--policy",
    "policies",
    type=click.Path(),
    multiple=True,
    metavar="FILE|DIR",
    help="Exit 3 if the plan violates a policy of the file or folder; may be repeated.  See grove policy.",
)


html_option = click.option(
    "--html",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Also save the result as a page: one HTML file to open and share, which asks no network.",
)


def _drawn_file(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    """Return the name of a picture; one with another ending fails (CL-095)."""
    if value is not None and not value.endswith((".svg", ".png")):
        raise click.UsageError(f"--picture {value}: give a name that ends in .svg or .png")
    return value


def picture_option(meaning: str) -> Callable[[F], F]:
    """``--picture``: a file to draw."""
    return click.option(
        "--picture", type=click.Path(dir_okay=False), metavar="FILE", callback=_drawn_file, help=meaning
    )


def combined_option_decorator(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Several options, in the order in which help shows them."""

    def decorated(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorated


def connection_options(default: str = "KUBECONFIG, else ~/.kube/config") -> Callable[[F], F]:
    """``--kubeconfig`` and ``--context`` of commands that always need a cluster."""
    meaning = f"Kubeconfig.  [default: {default}]"
    return combined_option_decorator(
        click.option("--kubeconfig", type=click.Path(dir_okay=False), metavar="FILE", help=meaning),
        click.option("--context", metavar="NAME", help="Context of the kubeconfig.  [default: current]"),
    )


IN_A_POD = "KUBECONFIG, else the service account of the pod"

log_option = click.option(
    "--log", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Format of log lines."
)


live_connection_options = combined_option_decorator(
    click.option(
        "--kubeconfig",
        type=click.Path(),
        metavar="FILE",
        help="With --live: kubeconfig to use.  [default: KUBECONFIG, else ~/.kube/config]",
    ),
    click.option("--context", metavar="NAME", help="With --live: context of the kubeconfig.  [default: current]"),
)
"""``--kubeconfig`` and ``--context`` of commands that read a cluster with ``--live``."""

cluster_options = combined_option_decorator(
    live_connection_options,
    click.option("-A", "--all-namespaces", "everywhere", is_flag=True, help="With --live: read all namespaces."),
)
"""Which cluster, and which namespaces of it."""

source_options = combined_option_decorator(
    filename_option(
        "YAML or JSON as kubectl prints it, also gzip; may be repeated.  '-' is standard input.", required=False
    ),
    config_option,
    click.option("--live", is_flag=True, help="Read the cluster; files given with -f are edits to plan on it."),
    click.option("-n", "--namespace", metavar="NS", help="Namespace to plan; also for manifests that name none."),
    click.option(
        "--now",
        type=NowOption(),
        help="Time to decide at: a time, dump (the newest time in the input) or clock (the computer's).  [default: the"
        " clock, or dump where the input is files and nothing in them is newer than an hour]",
    ),
    click.option(
        "--attempts",
        type=click.Path(),
        metavar="FILE",
        help="File with results of earlier writes (advanced): steps of a JSON plan under `attempts`, each with"
        " `outcome` and `detail`.",
    ),
    click.option(
        "--complete",
        type=CompleteKindsOption(),
        help="Kinds of which the input has every object, as given to kubectl get (pcs,pcsg,pclq,pods,podgangs), or all;"
        " what is missing of them is created.",
    ),
    click.option("--keep-going", is_flag=True, help="Decide what can be decided despite problems in the input."),
    cluster_options,
)
"""Where the objects come from, the clock, the configuration, and the results of earlier writes."""


def _printing(*formats: str) -> Callable[[F], F]:
    return click.option(
        "-o", "--output", type=click.Choice(formats), default=formats[0], show_default=True, help="Output format."
    )


def output_option(command: F) -> F:
    """``-o`` of a command that has a page."""
    from grove_shell.views.renderers import RENDERERS

    return _printing(*RENDERERS)(command)


def validation_output_option(command: F) -> F:
    """``-o`` of a command that also prints annotations for code review."""
    from grove_shell.views.renderers import ANNOTATION_FORMATS, RENDERERS

    return _printing(*RENDERERS, *ANNOTATION_FORMATS)(command)


def document_output_option(default: str) -> Callable[[F], F]:
    """``-o`` of a command that prints a document and has no page."""
    from grove_shell.views.renderers import SERIALIZERS

    return _printing(default, *(name for name in SERIALIZERS if name != default))


def rules_option(default: str = "the rule set of --config, else auto") -> Callable[[F], F]:
    """``--rules``: the rule set to decide by (CL-055)."""
    meaning = (
        "Rule set: auto (that of the operator that runs in the input), design, field (the Go operator),"
        " field@RELEASE, or the name of an entry point; see grove rules."
    )
    return click.option("--rules", type=RuleSetOption(auto=True), show_default=default, help=meaning)


def input_source_from_options(options: dict[str, Any]) -> "InputSource":
    """Remove the shared options from the options of a command and return them as a source.

    Raises:
        UsageError: the options contradict each other.
    """
    from grove_shell.actions.command_input import InputSource, LiveClusterOptions
    from grove_shell.actions.decision_time import NowWord

    named = {name: options.pop(name) for name in ("kubeconfig", "context", "everywhere")}
    filenames, live, namespace = options.pop("filenames"), options.pop("live"), options.pop("namespace")
    if not live and any(named.values()):
        raise click.UsageError("--kubeconfig, --context and -A work only with --live: add --live")
    complete = options.pop("complete", None) or ()
    if live and options["now"] is NowWord.DUMP:
        raise click.UsageError("--now dump is about files: leave it out, or leave --live out")
    if live and complete:
        raise click.UsageError("--complete is about files: leave it out, or leave --live out")
    old = options.pop("old", ())
    if old and (live or complete):
        raise click.UsageError("--old stands for the cluster: leave --live and --complete out")
    if not live and not filenames:
        raise click.UsageError("nothing to read: give -f FILE, or --live")
    if named["everywhere"] and namespace is not None:
        raise click.UsageError("-A (all namespaces) and -n (one namespace) exclude each other")
    return InputSource(
        filenames=filenames,
        live=LiveClusterOptions(namespace=namespace, **named) if live else None,
        namespace=namespace,
        now=options.pop("now"),
        attempts=options.pop("attempts"),
        config=options.pop("config"),
        keep_going=options.pop("keep_going"),
        complete=complete,
        old=old,
    )
