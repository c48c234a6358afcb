"""Warnings of ``grove validate`` about autoscalers that may scale a part below its ``minAvailable`` (WL-250)."""

from collections.abc import Iterator, Mapping
from typing import Any

from grove_core.areas.workload.admission.autoscaler_minimum import (
    autoscaler_minimum,
    autoscaler_warnings,
    min_available_of_part,
)
from grove_core.areas.workload.admission.manifest_defaults import podcliqueset_with_defaults
from grove_core.kernel.admission import AdmissionVerdict, Admit
from grove_core.kernel.decisions import Decision
from grove_core.kernel.refs import Ref
from grove_core.resources.object_metadata import metadata_in
from grove_core.resources.podcliqueset_spec import SetSpec, read_podcliqueset_spec
from grove_shell.reading.input_sources import InputItem
from grove_shell.reading.validation_input import ValidationInput
from grove_shell.views.validation.validation_page import JudgedManifest


def autoscalers_with_warnings(given: ValidationInput) -> Iterator[tuple[InputItem, JudgedManifest | None]]:
    """Yield each autoscaler whose target is in the input, with the warning about it; None where there is none."""
    stored = {clique.ref: clique.min_available for clique in given.cliques}
    stored |= {group.ref: group.min_available for group in given.groups}
    sets = list(_specs(item.value for item in given.sets))
    for item in given.autoscalers:
        minimum = autoscaler_minimum(item.value)
        if minimum is None:
            continue
        needed = stored.get(minimum.target, _needed_by_template(sets, minimum.target))
        if needed is not None:
            version, kind = str(item.value["apiVersion"]), str(item.value["kind"])
            subject = Ref(version, kind, *metadata_in(item.value).namespace_and_name)
            warnings = tuple(autoscaler_warnings(subject, minimum, needed))
            decision: Decision[AdmissionVerdict] | None = None
            if warnings:
                decision = Decision(Admit(warnings), tuple(one.reason for one in warnings))
            yield item, None if decision is None else (item, decision)


def _specs(sets: Iterator[Mapping[str, Any]]) -> Iterator[tuple[str, str, SetSpec]]:
    for raw in sets:
        spec, _ = read_podcliqueset_spec(podcliqueset_with_defaults(raw).get("spec"))
        if spec is not None:
            yield *metadata_in(raw).namespace_and_name, spec


def _needed_by_template(sets: list[tuple[str, str, SetSpec]], target: Ref) -> int | None:
    found = (
        min_available_of_part(name, spec, target) for namespace, name, spec in sets if namespace == target.namespace
    )
    return next((needed for needed in found if needed is not None), None)
