"""``grove validate``: the webhook's verdict offline, on every PodCliqueSet in the input, all problems at once."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from grove_core.admit import admit, used_names_in
from grove_core.admit_topology import admit_topology, topology_admission_view_of
from grove_core.areas.gang_termination.field.findings import manifest_warnings
from grove_core.areas.topology.admit import TopologyAdmissionView
from grove_core.areas.workload.admission.manifest_defaults import with_defaults
from grove_core.kernel.admission import AdmissionVerdict, Deny
from grove_core.kernel.decisions import Decision
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import GROVE
from grove_core.resources.cluster_topology import BINDING_KIND, TOPOLOGY_KIND
from grove_core.resources.podclique import PodClique, podclique_from_json
from grove_core.resources.podcliqueset_spec import read_set_spec
from grove_core.resources.topology_usage import SET_KIND
from grove_core.rule_sets.rule_set import RuleSet
from grove_shell.actions.command_input import choose_rule_set, cluster_for_operator_recognition
from grove_shell.actions.configuration import read_configuration
from grove_shell.exit_codes import DONE, ERROR
from grove_shell.manifests.schema_validation import misspelling_in, with_schema_objections
from grove_shell.page import Page, print_error
from grove_shell.reading.input_faults import InputFault
from grove_shell.reading.input_items import item_problem_as_fault, kind_and_version_problems, object_name_in_faults
from grove_shell.reading.input_objects import API_GROUPS
from grove_shell.reading.input_sources import InputItem, input_items_in_path, item_display_name, standard_input
from grove_shell.views.formatting import (
    NOTHING_CHECKED,
    REST_JUDGED,
    admission_remark_as_json,
    input_problems_page,
    plural,
    rule_citation,
)
from grove_shell.views.renderers import RENDERERS

Judged = tuple[InputItem, Decision[AdmissionVerdict]]


@dataclass(slots=True)
class _Given:
    """What an input holds, sorted out.

    Attributes:
        sets, topologies: PodCliqueSets and ClusterTopologies, to be judged.
        bindings: topologies of the newer kind, which are not judged.
        cliques: which of their pods are bound (TP-062).
        partial: kinds of which one does not read that others would be judged by.
        others: kind -> how many objects of other kinds.
        headings: of those others that have names to collide with, kind and metadata.
        classes: names of the DeviceClasses (MS-084).
    """

    sets: list[InputItem] = field(default_factory=list)
    topologies: list[InputItem] = field(default_factory=list)
    bindings: list[InputItem] = field(default_factory=list)
    cliques: list[PodClique] = field(default_factory=list)
    partial: set[str] = field(default_factory=set)
    others: Counter[str] = field(default_factory=Counter)
    headings: list[Mapping[str, Any]] = field(default_factory=list)
    classes: set[str] = field(default_factory=set)

    def put_aside(self, item: InputItem, kind: str) -> None:
        """An object with which others are judged, or which is not judged itself."""
        raw = item.value
        self.others[kind] += 1
        if (kind, raw.get("apiVersion")) == (BINDING_KIND, GROVE):
            self.bindings.append(item)
        if kind == "PodClique":
            try:
                self.cliques.append(podclique_from_json(raw))
            except MalformedObject:
                self.partial.add(kind)
        if kind == "DeviceClass":
            self.classes.add(_field(raw, "name"))
        if kind != "Pod":
            self.headings.append({"kind": kind, "metadata": raw.get("metadata")})


def validate(
    filenames: tuple[str, ...], old: tuple[str, ...], output: str, config: str | None = None, rules: str | None = None
) -> int:
    """Judge and print; returns the exit code (CL-001, CL-056)."""
    settings = read_configuration(config)
    faults: list[InputFault] = [*settings.problems]
    before, given = _sorted_out(old, faults), _sorted_out(filenames, faults)
    faults += _twins(given)
    held = [item.value for item in before.sets]
    replaced = {_name(item.value) for item in given.sets}
    present = (item.value for item in given.sets), (raw for raw in held if _name(raw) not in replaced)
    used_names = used_names_in(chain(*present, given.headings, before.headings))
    classes = given.classes | before.classes or None
    stored = cluster_for_operator_recognition(
        (*held, *(item.value for item in given.sets)), (*before.cliques, *given.cliques)
    )
    judges, _, _ = choose_rule_set(rules, settings.rules, stored)
    around = _topology_view(before, given, [raw for raw in held if _name(raw) not in replaced])
    judged = []
    for item in given.sets:
        earlier = _earlier(item.value, held)
        if old and earlier is None:
            print_error(f"no earlier version of {_name(item.value)} in --old: judged as new")
        decision = admit(item.value, earlier, used_names, settings.configuration, classes, around)
        judged.append((item, _advised(item.value, with_schema_objections(item.value, decision), judges)))
    stored_topologies = {_field(item.value, "name"): item.value for item in before.topologies}
    for item in given.topologies:
        earlier = stored_topologies.get(_field(item.value, "name"))
        judged.append((item, admit_topology(item.value, earlier, around, settings.configuration)))
    if faults:
        print_error(
            input_problems_page(
                sorted(faults, key=lambda fault: fault.sort_key), REST_JUDGED if judged else NOTHING_CHECKED
            )
        )
    others = dict(sorted(given.others.items()))
    RENDERERS[output].show(
        page=lambda: _page(judged, others, is_reported=bool(faults)),
        document=lambda: {
            "verdicts": [_as_json(item, decision) for item, decision in judged],
            "notJudged": others,
        },
    )
    refused = any(isinstance(decision.verdict, Deny) for _, decision in judged)
    return ERROR if faults or refused or not judged else DONE


def _advised(
    raw: Mapping[str, Any], decision: Decision[AdmissionVerdict], rules: RuleSet
) -> Decision[AdmissionVerdict]:
    """With what will hurt by the Go operator's rules (GF-120)."""
    spec, _ = read_set_spec(with_defaults(raw).get("spec"))
    if rules.default_delay is None or spec is None:
        return decision
    ref = Ref(GROVE, SET_KIND, _field(raw, "namespace") or "default", _field(raw, "name"))
    more = manifest_warnings(ref, spec, rules.default_delay)
    verdict = replace(decision.verdict, warnings=(*decision.verdict.warnings, *more))
    return replace(decision, verdict=verdict)


def _topology_view(before: _Given, given: _Given, kept: list[dict[str, Any]]) -> TopologyAdmissionView:
    """Return the topologies, their users and the bound pods of the cluster as it will be, with earlier and new objects.

    Args:
        kept: sets that none of the new ones replaces.
    """
    topologies = (*before.bindings, *given.bindings, *before.topologies, *given.topologies)
    sets = (*kept, *(item.value for item in given.sets))
    cliques, partial = [*before.cliques, *given.cliques], before.partial | given.partial
    return topology_admission_view_of((item.value for item in topologies), sets, cliques, partial)


def _sorted_out(paths: Iterable[str], faults: list[InputFault]) -> _Given:
    """Read everything; what has no kind, no version, or nearly one of ours, is a fault (IN-031)."""
    given = _Given()
    for path in paths:
        for item in input_items_in_path(path, faults, standard_input()):
            raw, slip = item.value, misspelling_in(item.value)
            kind, group = raw.get("kind"), str(raw.get("apiVersion")).rpartition("/")[0]
            problems = list(kind_and_version_problems(raw))
            if slip is not None and not problems:
                problems = [(slip.path, slip.expected, slip.got)]
            faults += [
                item_problem_as_fault(item, object_name_in_faults(raw, item.index), problem, None)
                for problem in problems
            ]
            if problems:
                continue
            if kind == SET_KIND and group == API_GROUPS[SET_KIND]:
                given.sets.append(item)
            elif (kind, raw.get("apiVersion")) == (TOPOLOGY_KIND, GROVE):
                given.topologies.append(item)
            else:
                given.put_aside(item, str(kind))
    return given


def _twins(given: _Given) -> Iterator[InputFault]:
    """Manifests of one name that differ: only one of them can be stored (IN-032). Linear."""
    alike: dict[tuple[str, str], dict[str, InputItem]] = {}
    for kind, items in ((SET_KIND, given.sets), (TOPOLOGY_KIND, given.topologies)):
        for item in items:
            raw = item.value
            if _field(raw, "name") and not _field(raw, "uid"):
                name = _name(raw) if kind == SET_KIND else _field(raw, "name")
                alike.setdefault((kind, name), {}).setdefault(json.dumps(raw, sort_keys=True), item)
    for found in alike.values():
        problem = ("metadata.name", "one manifest of this name", f"{len(found)} that differ")
        yield from (
            item_problem_as_fault(item, item_display_name(item), problem, None)
            for item in found.values()
            if len(found) > 1
        )


def _earlier(raw: Mapping[str, Any], before: list[dict[str, Any]]) -> Mapping[str, Any] | None:
    """The version of a manifest that runs: of its name, in its namespace; in the only one, where it names none."""
    same = [held for held in before if _field(held, "name") == _field(raw, "name")]
    if _field(raw, "namespace"):
        same = [held for held in same if (_field(held, "namespace") or "default") == _field(raw, "namespace")]
    return same[0] if len(same) == 1 else None


def _name(raw: Mapping[str, Any]) -> str:
    return f"{_field(raw, 'namespace') or 'default'}/{_field(raw, 'name')}"


def _field(raw: Mapping[str, Any], key: str) -> str:
    meta = raw.get("metadata")
    return str(meta.get(key) or "") if isinstance(meta, Mapping) else ""


def _page(judged: list[Judged], others: Mapping[str, int], *, is_reported: bool) -> Page:
    page = Page()
    if not judged and not is_reported:
        page.add(("nothing was checked: no PodCliqueSet in the input", "bold"))
    for item, decision in judged:
        verdict, warnings = decision.verdict, decision.verdict.warnings
        refusals = verdict.objections if isinstance(verdict, Deny) else ()
        word = ("refused", "bold red") if refusals else ("admitted", "bold green")
        problems = f", {plural(len(refusals), 'problem')}" if refusals else ""
        cautions = f", {plural(len(warnings), 'warning')}" if warnings else ""
        page.add(f"{item.file}: {item_display_name(item)}: ", word, problems + cautions)
        for objection in refusals:
            page.add("  ", str(objection), rule_citation(objection.reason))
        for warning in warnings:
            page.add("  ", ("warning: ", "yellow"), str(warning), rule_citation(warning.reason))
    if others:
        page.add((f"not checked: {', '.join(f'{count:,} {kind}' for kind, count in others.items())}", "dim"))
    return page


def _as_json(item: InputItem, decision: Decision[AdmissionVerdict]) -> dict[str, Any]:
    objections = decision.verdict.objections if isinstance(decision.verdict, Deny) else ()
    return {
        "file": item.file,
        "document": item.document,
        "object": item_display_name(item),
        "verdict": type(decision.verdict).__name__,
        "objections": [admission_remark_as_json(objection) for objection in objections],
        "warnings": [admission_remark_as_json(warning) for warning in decision.verdict.warnings],
    }
