"""Forecasts the update of a set from its listed objects and its manifest, as ``grove plan --live -f`` does (WH-040)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from grove_core.in_memory.forecasts import snapshot_with_set_as_stored
from grove_core.in_memory.update_forecasts import forecast_with_edit
from grove_core.kernel.structs import replace
from grove_core.operator_recognition import recognise_operator, set_not_predicted_finding
from grove_core.plan.forecast import Forecast, one_round_forecast
from grove_core.reconcile import reconcile
from grove_core.resources.configuration import Configuration
from grove_core.resources.edited_manifest_fields import manifest_changes
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_shell.reading.cluster_reading import load_input_files
from grove_shell.reading.input_completeness import CollectedObjects, LoadedInput
from grove_shell.reading.manifest_admission import set_with_manifest_applied
from grove_shell.settings.webhook_settings import AUTO


class ForecastOfEdit(NamedTuple):
    """What the update of a stored set does.

    Attributes:
        root: the set with its manifest as it will be stored.
        rules: that the forecast follows.
    """

    forecast: Forecast
    root: PodCliqueSet
    rules: RuleSet


class NotPredicted(Exception):
    """The update of a set cannot be predicted; the message says why."""


def forecast_of_edit(
    collected: CollectedObjects,
    manifest: Mapping[str, Any],
    rules_name: str,
    configuration: Configuration,
    now: datetime,
    work: int,
) -> ForecastOfEdit:
    """Return the forecast of a stored set with its manifest as it will be stored.

    Args:
        collected: the stored set, which is the first of the items, and its objects.
        manifest: after the defaults of all mutating webhooks.
        rules_name: ``auto`` for the operator that the objects show.
        configuration: of the operator.
        now: the time of the edit.
        work: the most work of the forecast (ED-006).

    Raises:
        NotPredicted: an object cannot be read, or no rules predict the set.
        MalformedObject: the manifest cannot be parsed.
    """
    loaded = load_input_files((), live=collected, configuration=configuration, raising=False)
    if loaded.faults:
        raise NotPredicted(str(loaded.faults[0]))
    (root,) = loaded.cluster.sets
    edited = set_with_manifest_applied(root, manifest)
    rules = _predicting_rules(rules_name, loaded, root)
    snapshot = loaded.cluster.snapshot_of(edited, now)
    plan = reconcile(snapshot_with_set_as_stored(snapshot, rules), rules)
    name = f"{root.ref.namespace}/{root.ref.name}"
    changes, stored = {name: manifest_changes(collected.items[0], manifest)}, {name: root}
    forecast = forecast_with_edit(one_round_forecast(plan, now), snapshot, rules, changes, stored, work, first=plan)
    return ForecastOfEdit(forecast, edited, rules)


def _predicting_rules(name: str, loaded: LoadedInput, root: PodCliqueSet) -> RuleSet:
    """Return the rules of the operator that acts on a set. Raises NotPredicted where no rules predict it (GF-134)."""
    shown = recognise_operator(loaded.cluster, loaded.newer)
    if name != AUTO:
        shown = replace(shown, doubtful=frozenset())  # the user named the operator
    unpredicted = set_not_predicted_finding(shown, root.ref)
    if unpredicted is not None:
        raise NotPredicted("; ".join(why.sentence for why in unpredicted.because))
    return rule_set(shown.rules if name == AUTO else name)
