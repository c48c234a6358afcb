"""Reads a scenario file, admits its sets, and reports all problems at once with their paths (SM-001, SM-002)."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

from pydantic import ValidationError

from grove_core.admit import admit, manifest_with_defaults_of
from grove_core.admit_cluster_topology import admit_topology
from grove_core.areas.topology.admit import NOTHING_KNOWN, KnownTopologiesForAdmission
from grove_core.kernel.admission import AdmissionVerdict, Deny
from grove_core.kernel.errors import ProblemKind
from grove_core.kernel.structs import replace
from grove_core.resources.cluster_topology import TOPOLOGY_KINDS, cluster_topology_from_json, effective_topologies
from grove_core.resources.configuration import DEFAULT_CONFIGURATION, Configuration
from grove_core.resources.json_field_reader import short_json
from grove_core.resources.object_metadata import metadata_in
from grove_core.rule_sets.rule_set import DESIGN, RuleSet
from grove_core.snapshot.cluster import IndexedCluster
from grove_shell.manifests.schema_validation import verdict_with_schema_objections
from grove_shell.reading.input_faults import COMMAND_LINE, InputFault
from grove_shell.reading.input_items import item_problem_as_fault
from grove_shell.reading.input_sources import InputItem, input_items_in_path, standard_input_bytes
from grove_shell.reading.manifest_admission import expected_text_of_objection
from grove_shell.reading.newest_time import newest_timestamp_in_object
from grove_shell.settings.shared_settings import MnnvlSettings, TopologySettings, problem_kind_of
from grove_shell.simulator.scenario.dump_scenario import DumpScenario
from grove_shell.simulator.scenario.possible_object_names import PossibleObjectNames
from grove_shell.simulator.scenario.scenario import Scenario, ScenarioExpectation
from grove_shell.simulator.scenario.scenario_events import ScenarioEvent, ScenarioNodePool
from grove_shell.simulator.scenario.scenario_field_types import WRITTEN, ScenarioPart
from grove_shell.simulator.scenario.scenario_problems import (
    expected_field_value_text,
    shortened_wrong_value,
    unknown_names_in_scenario_parts,
)

_SET_KINDS: Final = ("PodCliqueSet",)
_ADDING_NAMES: Final = frozenset({"addNodes", "applySet", "applyTopology", "scale", "autoscale"})
_TOP_LEVEL: Final = re.compile(r"spec\.\w+")
_NAMING_PARTS: Final = ("spec.sets", "spec.nodes", "spec.cluster", "spec.topologies")
ChooseRules: TypeAlias = Callable[[IndexedCluster | None, tuple[str, ...]], RuleSet]


@dataclass(frozen=True, slots=True)
class ScenarioReadResult:
    """The result of reading a scenario file.

    Attributes:
        scenario: with every set as admission stores it; None where there are faults.
        cluster: the dump to start from; None where the scenario names none.
        faults: all problems, in the order of their places.
        manifests: namespace and name -> manifest of each set of the dump; admission compares updates with it.
        newer: marks in the dump of a release of the Go operator newer than the newest known one (GF-134).
    """

    scenario: Scenario | None
    cluster: IndexedCluster | None
    faults: tuple[InputFault, ...]
    manifests: Mapping[tuple[str, str], Mapping[str, Any]]
    newer: tuple[str, ...] = ()


def read_scenario(path: str, choose: ChooseRules = lambda _cluster, _newer: DESIGN) -> ScenarioReadResult:
    """Read a scenario and the files that it names, and admit its sets.

    Bad content raises nothing: it is returned as ``faults``.

    Args:
        choose: returns the operator that admits, given the cluster of the scenario and the marks of a newer release.
    """
    faults: list[InputFault] = []
    items = list(input_items_in_path(path, faults, standard_input_bytes()))
    if len(items) != 1 and not faults:
        faults.append(InputFault(file=path, expected="one Scenario", got=f"{len(items)} objects"))
    if faults:
        return ScenarioReadResult(None, None, tuple(faults), {})
    return _read_scenario_item(path, items[0], choose)


def read_dump_scenario(made: DumpScenario, choose: ChooseRules = lambda _cluster, _newer: DESIGN) -> ScenarioReadResult:
    """Read a scenario that was made of a dump; see :func:`read_scenario`."""
    if made.faults:
        return ScenarioReadResult(None, None, tuple(made.faults), {})
    return _read_scenario_item("", InputItem(COMMAND_LINE, 1, -1, made.value), choose)


def _read_scenario_item(path: str, item: InputItem, choose: ChooseRules) -> ScenarioReadResult:
    reader = _ScenarioReader(path, item)
    reader.read_cluster()
    reader.rules = choose(reader.dump, reader.newer)
    scenario = reader.read_spec()
    reader.check_names()
    ordered = tuple(sorted(reader.faults, key=lambda fault: fault.sort_key))
    return ScenarioReadResult(None if ordered else scenario, reader.dump, ordered, reader.manifests, reader.newer)


class _ScenarioReader:
    """Reads one scenario file, and collects its faults."""

    def __init__(self, path: str, item: InputItem) -> None:
        self.path = path
        self.item = item
        self.faults: list[InputFault] = []
        self.dump: IndexedCluster | None = None
        self.topologies: tuple[dict[str, Any], ...] = ()
        self.sets: tuple[dict[str, Any], ...] = ()
        self.events: dict[int, ScenarioEvent] = {}  # by place in the file; only those without faults
        self.manifests: dict[tuple[str, str], Mapping[str, Any]] = {}
        self.newer: tuple[str, ...] = ()
        self.newest: datetime | None = None  # newest time in the dump
        self.rules = DESIGN  # of the operator that admits

    def read_spec(self) -> Scenario | None:
        """Return the scenario; None where it has faults."""
        raw = self.item.value
        self.topologies = self._stored("topologies", TOPOLOGY_KINDS)
        self.sets = self._stored("sets", _SET_KINDS)
        self.events = self._events(raw)
        try:
            scenario = Scenario.model_validate(raw, context=WRITTEN)
        except ValidationError as error:
            for problem in error.errors(include_url=False):
                self._note(
                    _path(problem["loc"]),
                    expected_field_value_text(problem, Scenario),
                    shortened_wrong_value(problem),
                    problem_kind_of(problem["type"]),
                )
            return None
        if self.faults:
            return None
        changes: dict[str, Any] = {"sets": self.sets, "topologies": self.topologies}
        if self.newest is not None and "start" not in _part(raw, "spec"):
            changes["start"] = self.newest
        changed = scenario.model_copy(update={"spec": scenario.spec.model_copy(update=changes)})
        return changed.with_events(tuple(self.events.values()))

    def check_names(self) -> None:
        """Report names that no object can have (SM-001), unless a fault hides some of the known names."""
        spec = _part(self.item.value, "spec")
        pools = _each(ScenarioNodePool, spec.get("nodes"))
        given = _listed(spec.get("events"))
        unread = (event for place, event in enumerate(given) if place not in self.events and isinstance(event, Mapping))
        hidden = any(event.keys() & _ADDING_NAMES for event in unread) or any(
            fault.path.startswith(_NAMING_PARTS) or _TOP_LEVEL.fullmatch(fault.path) or fault.file != self.item.file
            for fault in self.faults
        )
        for name, count in Counter(name for pool in pools.values() for name in pool.node_names).items():
            if count > 1:
                self._note("spec.nodes", "unique node names", f'"{name}" {count} times')
        if not hidden:
            known = PossibleObjectNames(self.sets, pools.values(), self.dump, self.topologies, self.rules)
            expected = _each(ScenarioExpectation, spec.get("expect"))
            for found in unknown_names_in_scenario_parts(
                known, self.events, expected, _part(_part(spec, "kubelet"), "cliques")
            ):
                self._note(found.path, found.expected, found.got)

    def read_cluster(self) -> None:
        """Read the dump that the scenario starts from."""
        name = _part(self.item.value, "spec").get("cluster")
        if not isinstance(name, str):
            return
        from grove_shell.reading.cluster_reading import load_input_files  # noqa: PLC0415 - few scenarios start from a dump

        path = str(self._beside(name))
        loaded = load_input_files([path], standard_input_bytes(), raising=False)
        self.faults.extend(loaded.faults)
        self.newest = loaded.taken_at
        for item in input_items_in_path(path, [], standard_input_bytes()):
            self.newest = max(filter(None, (self.newest, newest_timestamp_in_object(item.value))), default=None)
            if item.value.get("kind") == "PodCliqueSet":
                self.manifests[metadata_in(item.value).namespace_and_name] = item.value
        self.dump, self.newer = loaded.cluster, loaded.newer

    def _stored(self, field: str, kinds: tuple[str, ...]) -> tuple[dict[str, Any], ...]:
        """Return the sets or topologies of the start, in the scenario or files beside it, as admission stores them."""
        found: dict[tuple[str, str], dict[str, Any]] = {}
        for place, given in enumerate(_listed(_part(self.item.value, "spec").get(field))):
            for manifest, where in self._manifests(given, f"spec.{field}[{place}]", kinds):
                if manifest.get("kind") not in kinds:
                    self._note(f"{where}kind", " or ".join(kinds), short_json(manifest.get("kind")))
                    continue
                verdict = self._admission_of(manifest)
                if isinstance(verdict, Deny):
                    for objection in verdict.objections:
                        expected = expected_text_of_objection(objection.reason.sentence)
                        self._note(f"{where}{objection.path}", expected, objection.got, objection.kind)
                    continue
                is_topology = manifest["kind"] in TOPOLOGY_KINDS
                stored = manifest if is_topology else manifest_with_defaults_of(manifest, self.rules)
                meta = metadata_in(stored)
                name = "/".join(filter(None, (meta.namespace, meta.name)))
                if (manifest["kind"], name) in found:
                    self._note(f"{where}metadata.name", "a name of its own", name)
                found[manifest["kind"], name] = stored
        return tuple(found.values())

    def _admission_of(self, manifest: dict[str, Any]) -> AdmissionVerdict:
        if manifest["kind"] in TOPOLOGY_KINDS:
            return admit_topology(manifest, None, NOTHING_KNOWN, self._configuration).verdict
        decision = admit(manifest, configuration=self._configuration, around=self._around, rules=self.rules)
        return verdict_with_schema_objections(self.rules.admission.defaults(manifest), decision).verdict

    def _events(self, raw: Mapping[str, Any]) -> dict[int, ScenarioEvent]:
        """Return the events with a manifest in place of each file; admission decides when they happen."""
        found = _each(ScenarioEvent, _part(raw, "spec").get("events"))
        for place, given in enumerate(_listed(_part(raw, "spec").get("events"))):
            for what, kinds in (("applySet", _SET_KINDS), ("applyTopology", TOPOLOGY_KINDS)):
                apply = _part(given, what)
                where = f"spec.events[{place}].{what}"
                if "file" not in _part(apply, "manifest"):
                    continue
                manifests = [manifest for manifest, _ in self._manifests(apply["manifest"], where, kinds)]
                if len(manifests) != 1:
                    self._note(where, f"one {kinds[0]}", f"{len(manifests)} of them")
                    continue
                replaced = {**given, what: {"manifest": manifests[0]}}
                with suppress(ValidationError):
                    found[place] = ScenarioEvent.model_validate(replaced, context=WRITTEN)
        return found

    def _manifests(self, given: object, where: str, kinds: tuple[str, ...]) -> Iterator[tuple[dict[str, Any], str]]:
        """Yield the manifests of one entry, each with the prefix of its field paths."""
        if not isinstance(given, dict) or "file" not in given:
            if isinstance(given, dict):
                yield given, f"{where}."
            return
        name = given["file"]
        if not isinstance(name, str) or len(given) != 1:
            self._note(where, "a manifest, or file: PATH and nothing else", short_json(given))
            return
        faults: list[InputFault] = []
        values = [item.value for item in input_items_in_path(str(self._beside(name)), faults, standard_input_bytes())]
        self.faults.extend(faults)
        meant = [value for value in values if value.get("kind") in kinds]
        if not meant and not faults:
            self._note(f"{where}.file", f"a file with a {kinds[0]}", name)
        for manifest in meant:
            yield manifest, f"{where} ({name}): "

    @cached_property
    def _around(self) -> KnownTopologiesForAdmission:
        """The topologies of the start; used only after they are read."""
        known = [cluster_topology_from_json(topology) for topology in self.topologies]
        known += self.dump.topologies.values() if self.dump is not None else ()
        return KnownTopologiesForAdmission(effective_topologies(known), {}, {})

    @cached_property
    def _configuration(self) -> Configuration:
        """The configuration of admission; a part with faults is left at its default."""
        operator = _part(_part(self.item.value, "spec"), "operator")
        found = DEFAULT_CONFIGURATION
        with suppress(ValidationError):
            found = replace(found, mnnvl=MnnvlSettings.model_validate(operator.get("mnnvl", {})).as_configuration)
        with suppress(ValidationError):
            settings = TopologySettings.model_validate(operator.get("topologyAwareScheduling", {}))
            found = replace(found, topology=settings.as_configuration)
        return found

    def _beside(self, name: str) -> Path:
        return Path(self.path).parent / name

    def _note(self, path: str, expected: str, got: str, kind: ProblemKind = ProblemKind.WRONG_VALUE) -> None:
        name = metadata_in(self.item.value).name
        where = f"Scenario {name}" if name else ""
        self.faults.append(item_problem_as_fault(self.item, where, (path, expected, got), None, kind=kind))


_Part = TypeVar("_Part", bound=ScenarioPart)


def _each(kind: type[_Part], value: object) -> dict[int, _Part]:
    """Return the valid parts of a list by place; the validation of the whole file reports the others."""
    found: dict[int, _Part] = {}
    for place, given in enumerate(_listed(value)):
        with suppress(ValidationError):
            found[place] = kind.model_validate(given, context=WRITTEN)
    return found


def _part(raw: object, key: str) -> Mapping[str, Any]:
    found = raw.get(key) if isinstance(raw, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _path(loc: tuple[int | str, ...]) -> str:
    path = ""
    for part in loc:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path
