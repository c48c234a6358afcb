"""Reads files, streams, objects and live clusters (LB-002).

What is wrong is said in the words of a program: arguments in place of options, and the name of an open file (LB-015).
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from os import PathLike
from types import MappingProxyType
from typing import Final, TypeVar

from grove_core.kernel.structs import replace
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.snapshot import EVERY_KIND
from grove_shell.actions.command_input import (
    GIVEN_OBJECTS,
    CommandInput,
    InputSource,
    LiveClusterOptions,
    read_command_input,
)
from grove_shell.actions.decision_time import NoTimeInInput
from grove_shell.actions.installed_rule_sets import InstalledRuleSetFailed
from grove_shell.actions.rule_set_choice import AUTO, GivenRules
from grove_shell.actions.selected_sets import known_names_hint, selected_sets
from grove_shell.exit_codes import CommandFailed
from grove_shell.library.arguments import (
    Source,
    given_rules,
    one_of,
    optional_path,
    require_bool,
    require_decision_time,
    require_text_or_none,
    split_sources_by_type,
)
from grove_shell.library.cluster import Cluster, ReadInput
from grove_shell.reading.input_faults import BadInput, InputFault
from grove_shell.reading.input_sources import STDIN, STDIN_NAME

T = TypeVar("T")
RAISE: Final = "raise"
RETURN: Final = "return"
_FAULTS: Final = (RAISE, RETURN)
_ADVICE: Final = MappingProxyType(
    {
        "try --kubeconfig FILE": "give another kubeconfig=",
        "is --context the one you mean?": "is context= the one you mean?",
    }
)
"""What messages about a connection advise on the command line -> what they advise in a program."""
_ARGUMENTS: Final = MappingProxyType({"--old": "old", "-f": "sources"})
"""As the file of a fault: an option with objects that it does not take -> the argument."""
_EXPECTED: Final = MappingProxyType({"given with -f": "given without old=", "as --old stands": "as old= stands"})


def read(
    *sources: Source | Iterable[Source],
    rules: str | RuleSet = AUTO,
    now: datetime | str | None = None,
    namespace: str | None = None,
    config: str | PathLike[str] | None = None,
    complete: bool = False,
    old: Source | Iterable[Source] = (),
    faults: str = RAISE,
) -> Cluster:
    """Read what ``kubectl get -o json`` or ``grove snapshot`` wrote, and manifests that are planned as applied.

    Args:
        sources: paths of files and folders, open files, and objects as dicts; their order does not matter.
        rules: the operator that acts: ``auto`` for the one that the objects show, a name of ``grove rules``, or a
            RuleSet, as :func:`grove_core.rule_set_that_spares` returns one.
        now: the time to plan at, with a time zone; ``dump`` for the newest time in the input, ``clock`` for the
            computer's. Without it, the time of the input where that is older than an hour.
        namespace: the one to read, also of manifests that name none.
        config: the configuration file of the operator.
        complete: whether the input has every object of its namespaces, so that what is not in it does not exist.
        old: paths of manifests that count as rolled out; ``sources`` are then the new manifests.
        faults: ``raise``, or ``return`` to go on with what could be read: the problems are in ``faults`` of the result,
            and what depends on them is unknown.

    Raises:
        BadInput: everything that is wrong with the input, each problem with its place.
        TypeError, ValueError: an argument is wrong.

    Example:
        >>> import grove_shell as grove
        >>> grove.read("examples/real-cluster.yaml")
        <Cluster with 3 PodCliqueSets, rules 'field@v0.1.0-alpha.12-rc1'>
    """
    one_of(faults, _FAULTS, "faults")
    paths, objects, stream = split_sources_by_type(sources)
    if not sources or not (paths or objects or stream or any(isinstance(one, Mapping) for one in sources)):
        raise TypeError("nothing to read: give a path, an open file or an object; read_live() reads a cluster")
    earlier, *unusable = split_sources_by_type([old])
    if any(unusable):
        raise TypeError("old takes paths of manifests")
    source = InputSource(
        filenames=(*paths, *((STDIN,) if stream is not None else ())),
        now=require_decision_time(now),
        namespace=require_text_or_none(namespace, "namespace"),
        config=optional_path(config, "config"),
        complete=tuple(sorted(EVERY_KIND)) if require_bool(complete, "complete") else (),
        old=earlier,
        objects=objects,
        stream=stream.content if stream is not None else None,
    )
    return _read(source, given_rules(rules), faults, stream.name if stream is not None else "")


def read_live(
    *,
    namespace: str | None = None,
    all_namespaces: bool = False,
    kubeconfig: str | PathLike[str] | None = None,
    context: str | None = None,
    manifests: Source | Iterable[Source] = (),
    rules: str | RuleSet = AUTO,
    config: str | PathLike[str] | None = None,
    faults: str = RAISE,
) -> Cluster:
    """Read a cluster, and manifests that are planned as applied to it. Nothing is written.

    Args:
        namespace: the one to read; that of the context without it.
        all_namespaces: read all of them.
        kubeconfig, context: as for kubectl.
        manifests: paths of files and folders.
        rules, config, faults: as for :func:`read`.

    Raises:
        BadInput: the cluster cannot be read, or a manifest is wrong.
        TypeError, ValueError: an argument is wrong.

    Example:
        >>> import grove_shell as grove
        >>> grove.read_live(kubeconfig="missing")
        Traceback (most recent call last):
        grove_shell.reading.input_faults.BadInput: 1 problem in the input
          cluster: missing: No such file or directory; give another kubeconfig=
    """
    one_of(faults, _FAULTS, "faults")
    paths, *unusable = split_sources_by_type([manifests])
    if any(unusable):
        raise TypeError("manifests takes paths")
    where = require_text_or_none(namespace, "namespace")
    live = LiveClusterOptions(
        kubeconfig=optional_path(kubeconfig, "kubeconfig"),
        context=require_text_or_none(context, "context"),
        namespace=where,
        everywhere=require_bool(all_namespaces, "all_namespaces"),
    )
    source = InputSource(filenames=paths, live=live, namespace=where, config=optional_path(config, "config"))
    return _read(source, given_rules(rules), faults)


def _read(source: InputSource, rules: GivenRules, faults: str, stream: str = "") -> Cluster:
    option = None if rules == AUTO and source.config is not None else rules
    try:
        inputs = _beside_a_running_loop(partial(read_command_input, source, option))
    except InstalledRuleSetFailed:
        raise
    except NoTimeInInput:
        raise ValueError("now='dump', and nothing in the input has a time; give the time, or now='clock'") from None
    except CommandFailed as fault:
        message = _advice_for_programs(str(fault.args[0]))
        raise BadInput([InputFault(file="cluster", expected="", got=message)]) from None
    inputs = replace(inputs, problems=_faults_for_programs(inputs.problems, stream))
    if faults == RAISE:
        if inputs.problems:
            raise BadInput(inputs.problems)
        if next(selected_sets(inputs.loaded.cluster, (), source.namespace), None) is None:
            raise BadInput([_without_sets(source, inputs, stream)])
    return Cluster(ReadInput(source=source, inputs=inputs, option=option))


def _beside_a_running_loop(read: Callable[[], T]) -> T:
    """Return what a function returns; in a thread of its own where an event loop runs, as in a notebook (LB-024)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return read()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(read).result()


def _without_sets(source: InputSource, inputs: CommandInput, stream: str) -> InputFault:
    """Return the fault of an input without a PodCliqueSet (LB-004)."""
    got = "none"
    if source.namespace is not None:
        others = {one.ref.namespace for one in inputs.loaded.cluster.sets}
        got = f"none in namespace {source.namespace}{known_names_hint(source.namespace, others) if others else ''}"
    files = [stream if one == STDIN else one for one in source.filenames]
    where = ", ".join(files) or (GIVEN_OBJECTS if source.live is None else "the cluster")
    return InputFault(file=where, expected="a PodCliqueSet", got=got)


def _advice_for_programs(message: str) -> str:
    """Return a message about a connection with the names of arguments (LB-015)."""
    return _replaced(message, _ADVICE)


def _faults_for_programs(faults: Iterable[InputFault], stream: str) -> tuple[InputFault, ...]:
    """Return faults with the names of arguments (LB-015).

    Args:
        stream: the name of the open file that was read.
    """
    return tuple(_fault_for_programs(one, stream) for one in faults)


def _fault_for_programs(fault: InputFault, stream: str) -> InputFault:
    if fault.file == STDIN_NAME:
        return replace(fault, file=stream)
    argument = _ARGUMENTS.get(fault.file)
    if argument is None:
        return fault
    return replace(fault, file=argument, expected=_replaced(fault.expected, _EXPECTED))


def _replaced(text: str, words: Mapping[str, str]) -> str:
    for option, argument in words.items():
        text = text.replace(option, argument)
    return text
