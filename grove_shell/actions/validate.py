"""``grove validate``: the webhook's verdict offline, or with ``--preflight`` whether an operator would start."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

from grove_core.admit import admit, index_names_used_by_sets
from grove_core.admit_cluster_topology import admit_topology, topology_admission_view_of
from grove_core.areas.gang_termination.field.go_operator_findings import go_operator_manifest_warnings
from grove_core.areas.workload.admission.manifest_defaults import podcliqueset_with_defaults
from grove_core.areas.workload.admission.template_warnings import partial_start_warnings
from grove_core.kernel.admission import AdmissionVerdict, AdmissionWarning, Deny
from grove_core.kernel.decisions import Decision
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import replace
from grove_core.preflight import kinds_of_unknown_availability, preflight_notices, preflight_objections
from grove_core.resources.api_names import GROVE, SET_KIND
from grove_core.resources.crd_name_clashes import NamesInCrd
from grove_core.resources.object_metadata import metadata_in
from grove_core.resources.podcliqueset_spec import read_podcliqueset_spec
from grove_core.rule_sets.rule_set import RuleSet
from grove_shell.actions.command_input import InputSource, read_command_input
from grove_shell.actions.configuration_files import read_operator_configuration
from grove_shell.actions.rule_set_choice import GivenRules, choose_rule_set, cluster_for_operator_recognition
from grove_shell.actions.validate_autoscalers import autoscalers_with_warnings
from grove_shell.exit_codes import DONE, ERROR, CommandFailed
from grove_shell.manifests.schema_validation import verdict_with_schema_objections
from grove_shell.reading.field_positions import FieldPositions
from grove_shell.reading.input_faults import InputFault
from grove_shell.reading.input_sources import input_name
from grove_shell.reading.validation_input import (
    conflicting_manifest_faults,
    find_stored_set,
    read_validation_input,
)
from grove_shell.styled_text_page import print_error, print_page, write_stdout
from grove_shell.views.formatting import NOTHING_CHECKED, NOTHING_DECIDED, REST_JUDGED, input_problems_page
from grove_shell.views.renderers import ANNOTATION_FORMATS, RENDERERS, format_json_document
from grove_shell.views.validation.validation_page import (
    JudgedManifest,
    operator_start_page,
    taken_crd_names_page,
    validation_as_json,
    validation_page,
)

_ABSENT: Final = "nothing"
"""What a remark says that it got where a field is missing."""


class Validation(NamedTuple):
    """The verdicts on the manifests of an input.

    Attributes:
        judged: sets and topologies with their verdicts, in the order of the input.
        warned: objects that no operator of Grove admits, with warnings (WL-250).
        faults: problems of the input.
        others: kind -> how many objects were not judged.
        rules: the name of the rule set that judged.
        new: names of the sets that have no earlier version among the old manifests; none without old manifests.
        note: on the configuration file; empty without one.
        files: the files and folders that were given.
    """

    judged: tuple[JudgedManifest, ...]
    warned: tuple[JudgedManifest, ...]
    faults: tuple[InputFault, ...]
    others: Mapping[str, int]
    rules: str
    new: tuple[str, ...] = ()
    note: str = ""
    files: tuple[str, ...] = ()


def judge_manifests(
    filenames: tuple[str, ...], old: tuple[str, ...], config: str | None = None, rules: GivenRules | None = None
) -> Validation:
    """Return the verdicts on manifests, as an operator with these rules would admit or refuse them (CL-056).

    Args:
        filenames, old: files and folders with the manifests, and with their earlier versions.
        config: the configuration file of the operator.
        rules: the name of a rule set; None for the operator that the manifests show.
    """
    settings = read_operator_configuration(config)
    faults: list[InputFault] = [*settings.problems]
    before, given = read_validation_input(old, faults), read_validation_input(filenames, faults)
    faults += conflicting_manifest_faults(given)
    stored, sets = [item.value for item in before.sets], [item.value for item in given.sets]
    names = {metadata_in(raw).namespace_and_name for raw in sets}
    kept = [raw for raw in stored if metadata_in(raw).namespace_and_name not in names]
    cliques = (*before.cliques, *given.cliques)
    chosen, _, _ = choose_rule_set(rules, settings.rules, cluster_for_operator_recognition((*stored, *sets), cliques))
    used_names = index_names_used_by_sets(chain(sets, kept, given.headings, before.headings))
    topologies = (*before.bindings, *given.bindings, *before.topologies, *given.topologies)
    around = topology_admission_view_of(
        (item.value for item in topologies), (*kept, *sets), cliques, before.partial | given.partial
    )
    classes = given.classes | before.classes or None
    judged: list[JudgedManifest] = []
    new: list[str] = []
    for item in given.sets:
        earlier = find_stored_set(item.value, stored)
        if old and earlier is None:
            new.append("/".join(metadata_in(item.value).namespace_and_name))
        decision = admit(item.value, earlier, used_names, settings.configuration, classes, around, chosen)
        decision = verdict_with_schema_objections(chosen.admission.defaults(item.value), decision, earlier)
        judged.append((item, _with_warnings(item.value, decision, chosen)))
    by_name = {metadata_in(item.value).name: item.value for item in before.topologies}
    for item in given.topologies:
        earlier = by_name.get(metadata_in(item.value).name)
        judged.append((item, admit_topology(item.value, earlier, around, settings.configuration)))
    faults.sort(key=lambda fault: fault.sort_key)
    autoscalers = {id(item): warned for item, warned in autoscalers_with_warnings(given)}
    unknown = Counter(str(item.value["kind"]) for item in given.autoscalers if id(item) not in autoscalers)
    others = dict(sorted((given.others + unknown).items()))
    warned = tuple(filter(None, autoscalers.values()))
    return Validation(tuple(judged), warned, tuple(faults), others, chosen.name, tuple(new), settings.note, filenames)


def print_manifest_verdicts(
    filenames: tuple[str, ...],
    old: tuple[str, ...],
    output: str,
    config: str | None = None,
    rules: GivenRules | None = None,
) -> int:
    """Judge and print; returns the exit code (CL-001, CL-056).

    Args:
        filenames, old, config, rules: as of :func:`judge_manifests`.
        output: a key of ``RENDERERS``, or one of ``ANNOTATION_FORMATS``.
    """
    found = judge_manifests(filenames, old, config, rules)
    if found.note:
        print_error(found.note)
    for name in found.new:
        print_error(f"no earlier version of {name} in --old: judged as new")
    if output in ANNOTATION_FORMATS:
        _print_annotations([*found.judged, *found.warned], found.faults, output, input_name(filenames[0]))
    else:
        _print_verdicts(found.judged, found.warned, found.faults, found.others, output)
    refused = any(isinstance(decision.verdict, Deny) for _, decision in found.judged)
    return ERROR if found.faults or refused or not found.judged else DONE


def _print_verdicts(
    judged: Sequence[JudgedManifest],
    warned: Sequence[JudgedManifest],
    faults: Sequence[InputFault],
    others: Mapping[str, int],
    output: str,
) -> None:
    """Print the verdicts on manifests, and the warnings about autoscalers."""
    if faults:
        print_error(input_problems_page(faults, REST_JUDGED if judged else NOTHING_CHECKED))
    positions = FieldPositions()

    def markdown() -> str:
        from grove_shell.views.validation.validation_markdown import validation_markdown  # noqa: PLC0415 - code review alone

        return validation_markdown(judged, warned, faults, others, positions)

    RENDERERS[output].print_result(
        page=lambda: validation_page(judged, others, positions, warned=warned, is_reported=bool(faults)),
        document=lambda: validation_as_json([*judged, *warned], others, positions),
        markdown=markdown,
    )


def _print_annotations(judged: Sequence[JudgedManifest], faults: Sequence[InputFault], output: str, given: str) -> None:
    """Print annotations of GitHub or a SARIF log, which hold the problems of the input too (CL-086)."""
    from grove_shell.views.validation.ci_annotations import (  # noqa: PLC0415 - code review alone
        ci_annotations_of_validation,
        github_annotations_text,
        sarif_document,
    )

    found = ci_annotations_of_validation(judged, faults, FieldPositions())
    is_github = output == "github"
    write_stdout(github_annotations_text(found) if is_github else format_json_document(sarif_document(found, given)))


def _with_warnings(
    raw: Mapping[str, Any], decision: Decision[AdmissionVerdict], rules: RuleSet
) -> Decision[AdmissionVerdict]:
    """Return the decision with warnings about groups that start in part (WL-186) and short delays (GF-120)."""
    spec, _ = read_podcliqueset_spec(podcliqueset_with_defaults(raw).get("spec"))
    if spec is None:
        return decision
    subject = Ref(GROVE, SET_KIND, *metadata_in(raw).namespace_and_name)
    more = [*partial_start_warnings(subject, spec)]
    if rules.default_delay is not None:
        more += go_operator_manifest_warnings(subject, spec, rules.default_delay)
    warnings = tuple(_without_derived((*decision.verdict.warnings, *more), decision.verdict))
    verdict = replace(decision.verdict, warnings=warnings)
    return replace(decision, verdict=verdict)


def _without_derived(warnings: Iterable[AdmissionWarning], verdict: AdmissionVerdict) -> Iterator[AdmissionWarning]:
    """Return the warnings, but for those about a field whose parent is missing and objected to."""
    objections = verdict.objections if isinstance(verdict, Deny) else ()
    missing = tuple(f"{one.path}." for one in objections if one.got == _ABSENT)
    return (one for one in warnings if not one.path.startswith(missing))


_DEFAULT_CHECKED: Final = (
    "note: an operator with the default configuration is checked; give that of yours with --config"
)


_NONE_TAKEN: Final = "no name taken: no other CRD has a name of Grove's CRDs"


def _installed_crd_names(source: InputSource) -> list[NamesInCrd]:
    """Return the names of all definitions of the cluster; none without ``--live``."""
    if source.live is None:
        return []
    from grove_shell.actions.live_cluster_lists import installed_crd_names  # noqa: PLC0415 - needs the client

    return installed_crd_names(source.live)


def check_operator_preflight(source: InputSource) -> int:
    """Check whether an operator with this configuration would start, and print; returns the exit code (CL-032)."""
    installed = _installed_crd_names(source)
    try:
        inputs = read_command_input(source)
    except CommandFailed:  # as before the first installation
        print_page(taken_crd_names_page(installed, none_taken="" if source.live is None else _NONE_TAKEN))
        raise
    for note in filter(None, (inputs.note, _DEFAULT_CHECKED if source.config is None else "")):
        print_error(note)
    cluster, page = inputs.loaded.cluster, taken_crd_names_page([*installed, *inputs.loaded.definitions])
    settings, served = cluster.configuration, cluster.served
    objections = preflight_objections(settings, served)
    if objections:
        for why in (objection.because for objection in objections):
            page.add_line(("would not start: ", "bold red"), why.sentence, (f"  {why.rule.requirement}", "dim"))
    elif inputs.problems:
        print_error(input_problems_page(inputs.problems, NOTHING_DECIDED))
    elif lacking := kinds_of_unknown_availability(settings, served):
        for kind in lacking:
            page.add_line(("unknown: ", "bold yellow"), f"whether the cluster has {kind}s does not show in this input")
    elif not page.lines:
        print_page(operator_start_page(preflight_notices(settings, served)))
        return DONE
    print_page(page)
    return ERROR
