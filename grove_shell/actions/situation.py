"""From what the user said to a situation: a cluster, the attempts made before, and the clock."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from grove_core.areas.gang_termination.design.ruleset import DESIGN
from grove_core.kernel.errors import MalformedObject, Problem
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt
from grove_core.resources.cluster_topology import likest
from grove_core.resources.configuration import Configuration
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.actions.source import NoCluster, Source
from grove_shell.page import complain
from grove_shell.reading.faults import Fault
from grove_shell.reading.loaded import Loaded
from grove_shell.reading.objects import load
from grove_shell.reading.sources import Item, items_of, standard_input
from grove_shell.views.faults import LEFT_OPEN, closing_of, faults_page
from grove_shell.views.progress import counting


class Configured(NamedTuple):
    """What an operator is told.

    Attributes:
        configuration: what decisions depend on.
        rules: by which it judges.
        said: its file as it was written.
        faults: everything wrong with that.
    """

    configuration: Configuration
    rules: str
    said: Mapping[str, Any]
    faults: tuple[Fault, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What was read, and what time it is.

    Attributes:
        faults: everything wrong with the input; decisions are offered only without any, or with ``--keep-going``.
        usable: whether to go on.
        rules: by which the operator of that configuration judges.
    """

    loaded: Loaded
    faults: tuple[Fault, ...]
    now: datetime
    attempts: tuple[Attempt, ...]
    usable: bool
    rules: str

    def snapshots(self, namespace: str | None, names: tuple[str, ...] = ()) -> Iterator[Snapshot]:
        """What each chosen root can see; sorted by namespace and name.

        Args:
            namespace: only sets of this namespace; None for all.
            names: ``set`` or ``namespace/set``; empty for all.
        """
        wanted = set(names)
        for root in self.loaded.cluster.sets:
            full = f"{root.ref.namespace}/{root.ref.name}"
            if namespace not in {None, root.ref.namespace} or (wanted and not wanted & {root.ref.name, full}):
                continue
            yield self.loaded.cluster.snapshot_of(root, self.now, self.attempts)

    def missing(self, namespace: str | None, names: tuple[str, ...]) -> str:
        """What was asked for and is not there (CL-009): namespaces without a set, sets by name; empty for nothing."""
        every = [root.ref for root in self.loaded.cluster.sets]
        there = [ref for ref in every if namespace in {None, ref.namespace}]
        if namespace is not None and not there and not names:
            meant = likest(namespace, {ref.namespace for ref in every})
            return f"a PodCliqueSet in namespace {namespace}" + (f"; did you mean {meant}?" if meant else "")
        return sets_missing(names, there)


def sets_missing(names: tuple[str, ...], there: Iterable[Ref]) -> str:
    """Those of some ``set`` or ``namespace/set`` that are not there, and what was probably meant; empty for none."""
    known: dict[str, str] = {}
    for ref in there:
        known[f"{ref.namespace}/{ref.name}"] = known[ref.name] = f"{ref.namespace}/{ref.name}"
    missing = sorted(name for name in names if name not in known)
    if not missing:
        return ""
    meant = [known.get(likest(name, known)) or known.get(name.rpartition("/")[2]) for name in missing]
    hint = f"; did you mean {', '.join(dict.fromkeys(filter(None, meant)))}?" if any(meant) else ""
    return ", ".join(f"PodCliqueSet {name}" for name in missing) + hint


def situation_of(source: Source) -> Situation:
    """Read everything a command needs; what is bad in it is in ``faults``.

    Raises:
        NoCluster: a cluster was to be asked, and does not answer.
    """
    told = configured_by(source.config)
    collected = None
    if source.live is not None:
        from grove_shell.actions.live import collect  # noqa: PLC0415 - the client, which a file does not need

        collected = collect(source.live)
    with counting("reading", "objects") as count:
        loaded = load(
            source.filenames, standard_input(), count, collected, told.configuration, namespace=source.namespace
        )
    attempts, faults = _attempts(source.attempts) if source.attempts else ((), ())
    every = (*told.faults, *_unfit(source, loaded), *loaded.faults, *faults)
    return Situation(
        loaded=loaded,
        faults=every,
        now=source.now or (loaded.taken_at if source.live is None else None) or datetime.now(UTC),
        attempts=attempts,
        usable=not every or source.keep_going,
        rules=told.rules,
    )


def asked(source: Source) -> Situation | None:
    """The situation, with what is bad in it told on standard error; None where nothing can be decided (CL-001)."""
    try:
        situation = situation_of(source)
    except NoCluster as fault:
        complain(fault)
        return None
    if situation.faults:
        complain(faults_page(situation.faults, LEFT_OPEN if situation.usable else closing_of(situation.faults)))
    return situation if situation.usable else None


def configured_by(path: str | None) -> Configured:
    """What decisions need of an operator's configuration file; the defaults where there is no file (CL-030)."""
    if path is None:
        return Configured(Configuration(), DESIGN.name, {}, ())
    from grove_shell.actions.configuration import configuration  # noqa: PLC0415 - few commands come with one (P11)
    from grove_shell.settings.operator import OperatorSettings, settings_of  # noqa: PLC0415 - brings pydantic

    def read(raw: Mapping[str, Any]) -> tuple[tuple[OperatorSettings, Mapping[str, Any]], tuple[Problem, ...]]:
        settings, problems = settings_of(raw)
        return (settings, raw), problems

    (settings, said), faults = configuration(path, read)
    return Configured(settings.decisive, settings.rules, said, faults)


def _unfit(source: Source, loaded: Loaded) -> Iterator[Fault]:
    """Why an operator with that configuration would not run there (MN-061)."""
    if source.config is None:
        return
    from grove_core.areas.mnnvl.preflight import objection_to_start  # noqa: PLC0415 - few commands come with one (P11)

    objection = objection_to_start(loaded.cluster.configuration, loaded.cluster.served)
    if objection is not None:
        yield Fault(
            file=source.config,
            document=1,
            line=None,
            column=None,
            object="OperatorConfiguration",
            path="mnnvl.enabled",
            expected="false",
            got=f"true ({objection.sentence})",
        )


def _attempts(path: str) -> tuple[tuple[Attempt, ...], tuple[Fault, ...]]:
    from grove_core.document.reading import attempts_from_json  # noqa: PLC0415 - few plans come with attempts (P11)

    faults: list[Fault] = []
    found: list[Attempt] = []
    for item in items_of(path, faults, standard_input()):
        try:
            found.extend(attempts_from_json(item.value.get("attempts")))
        except MalformedObject as fault:
            faults.extend(_placed(item, fault))
    return tuple(found), tuple(faults)


def _placed(item: Item, fault: MalformedObject) -> Iterator[Fault]:
    for problem in fault.problems:
        yield Fault(
            file=item.file,
            document=item.document,
            line=None,
            column=None,
            object="",
            path=problem.path or "attempts",
            expected=problem.expected,
            got=problem.got,
        )
