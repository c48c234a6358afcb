"""Writes documents as JSON. ``sentence`` and ``summary`` are for readers only; the rest can be read back (CL-011)."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from grove_core.areas.gang_termination.forecast_terminations import (
    TerminationAssumption,
    termination_assumptions_by_round,
)
from grove_core.document.edit_format import edit_as_json
from grove_core.document.plan_document import (
    AUTO,
    FORMAT_VERSION,
    Json,
    PlanDocument,
    RuleSetSource,
    step_counts_by_action,
)
from grove_core.document.step_writing import (
    finding_as_json,
    reasons_as_json,
    ref_as_json,
    step_as_json,
    withheld_step_as_json,
)
from grove_core.document.termination_hint_format import hints_as_json
from grove_core.document.termination_totals import TerminationTotals, termination_totals
from grove_core.forecast_explanation import NOTICES
from grove_core.kernel.decisions import reasons_for_question
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Step
from grove_core.kernel.structs import replace
from grove_core.kernel.time_formats import format_go_duration, format_time
from grove_core.plan.forecast import Forecast, ForecastRound
from grove_core.resources.configuration import DEFAULT_CONFIGURATION, Configuration
from grove_core.version import IMAGE, VERSION


def plan_document_as_json(document: PlanDocument, *, decisions: bool) -> Json:
    """Return a document as JSON; ``decisions`` adds every finding, also those that lead to no step."""
    return {
        "formatVersion": FORMAT_VERSION,
        "coreVersion": VERSION,
        "rules": document.rules,
        **({} if document.rules_from is None else {"rulesFrom": rule_set_source_as_json(document.rules_from)}),
        **_configuration_as_json(document.configuration),
        "asOf": format_time(document.as_of),
        **({"asOfFrom": document.as_of_from} if document.as_of_from else {}),
        "notCollected": list(document.not_collected),
        **({"notPlanned": list(document.not_planned)} if document.not_planned else {}),
        "summary": {
            **step_counts_by_action(document.forecasts),
            "terminations": _terminations_as_json(termination_totals(document.forecasts)),
        },
        "plans": [_forecast_as_json(forecast, decisions=decisions) for forecast in document.forecasts],
    }


def _terminations_as_json(totals: TerminationTotals) -> Json:
    """The field ``summary.terminations``."""
    impact, first = totals.impact, totals.first_deadline
    return {
        "replicas": totals.replicas,
        "podCliques": totals.cliques,
        "pods": impact.pods if impact is not None else None,
        "readyPods": impact.ready if impact is not None else None,
        "gpus": impact.gpus if impact is not None else None,
        "waiting": totals.waiting,
        **({} if first is None else {"firstDeadline": format_time(first)}),
    }


def _configuration_as_json(configuration: Configuration) -> Json:
    """The field ``configuration``, in the form of a configuration file; nothing for the default configuration."""
    mnnvl, image = replace(configuration.mnnvl, is_given=False), configuration.init_image
    if replace(configuration, mnnvl=mnnvl) == DEFAULT_CONFIGURATION:
        return {}
    shape = mnnvl.shape.value if mnnvl.shape is not None else AUTO
    written: Json = {"mnnvl": {"enabled": mnnvl.enabled, "mode": mnnvl.mode.value, "computeDomainShape": shape}}
    topology = configuration.topology
    if topology != DEFAULT_CONFIGURATION.topology:
        levels = [level._asdict() for level in topology.levels]
        written["topologyAwareScheduling"] = {"enabled": topology.enabled, "levels": levels}
    if configuration.schedulers is not None:
        profiles = [{"name": name} for name in configuration.schedulers.names]
        written["scheduler"] = {"profiles": profiles, "defaultProfileName": configuration.schedulers.default}
    if image != IMAGE:
        written["startup"] = {"image": image}
    return {"configuration": written}


def rule_set_source_as_json(source: RuleSetSource) -> Json:
    """Return the source of a rule set as JSON; ``because`` only where the source does not name it."""
    return {"kind": source.kind, **({"because": source.because} if source.because else {})}


def _forecast_as_json(forecast: Forecast, *, decisions: bool) -> Json:
    rounds = [(round_.at, round_.steps) for round_ in forecast.rounds]
    assumed = termination_assumptions_by_round(forecast.findings, rounds)
    shown: Json = {
        "root": {**ref_as_json(forecast.root), "uid": forecast.root_uid},
        "rounds": list(_rounds_as_json(forecast.rounds, assumed)),
        "complete": forecast.complete,
        "wakeAt": _time_as_json(forecast.rounds[0].wake_at),
    }
    for question, key in NOTICES.items():
        if because := reasons_for_question(question, forecast.findings):
            shown[key] = reasons_as_json(because)
    shown |= _manifest_as_json(forecast)
    if forecast.averted:
        shown["averted"] = [finding_as_json(finding) for finding in forecast.averted]
    if forecast.hints:
        shown["hints"] = [hints_as_json(one) for one in forecast.hints]
    if forecast.again is not None:
        again = forecast.again
        every = format_go_duration(again.every)
        shown["again"] = {"sinceRound": again.since, "every": every, "until": format_time(again.until)}
        shown["again"]["assumes"] = _codes(one for found in assumed[again.since - 1 :] for one in found.values())
    if decisions:
        shown["decisions"] = [finding_as_json(finding) for finding in forecast.findings]
    return shown


def _manifest_as_json(forecast: Forecast) -> Json:
    """The fields of a forecast that say what a manifest does, and what it leaves open."""
    shown: Json = {}
    if forecast.creates is not None:
        shown["creates"] = forecast.creates._asdict()
    if forecast.same_name is not None:
        alike = forecast.same_name
        shown["sameName"] = {"sets": list(alike.sets), "namespaceGiven": alike.is_namespace_given}
    if forecast.removed is not None:
        shown["ifDeleted"] = {"podCliques": forecast.removed.cliques, **forecast.removed.pods._asdict()}
    if forecast.edit is not None:
        shown["edit"] = edit_as_json(forecast.edit)
    return shown


def _rounds_as_json(
    rounds: Iterable[ForecastRound], assumed: Iterable[Mapping[Ref, TerminationAssumption]]
) -> Iterator[Json]:
    """Rounds as JSON, each with the assumptions of its terminations and of those before it (PL-032)."""
    so_far = set[TerminationAssumption]()
    for round_, by_target in zip(rounds, assumed, strict=True):
        so_far.update(by_target.values())
        yield {
            "round": round_.number,
            "at": format_time(round_.at),
            **({"assumes": _codes(so_far)} if so_far else {}),
            "steps": [_step_in_round(step, by_target) for step in round_.steps],
            "withheld": [withheld_step_as_json(held) for held in round_.withheld],
            "wakeAt": _time_as_json(round_.wake_at),
        }


def _step_in_round(step: Step, assumed: Mapping[Ref, TerminationAssumption]) -> Json:
    found = assumed.get(step.target)
    return {**step_as_json(step), **({} if found is None else {"assumes": found.code})}


def _codes(assumed: Iterable[TerminationAssumption]) -> list[str]:
    return sorted({one.code for one in assumed})


def _time_as_json(moment: datetime | None) -> str | None:
    return format_time(moment) if moment is not None else None
