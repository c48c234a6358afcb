"""Everything that reads, plans and explains, from one import: ``import grove_shell as grove``.

``read`` and ``read_live`` return a cluster; ``plan``, ``forecast``, ``explain`` and ``compare`` take it; ``validate``
takes paths; ``rule_set_names`` lists what ``rules=`` takes. ``grove_core`` is the pure function beneath: it reads
nothing and decides everything.

Names are imported on first access, so that a program that needs one part does not import the rest.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grove_core.plan.update_forecast import PodsAndGpus
    from grove_core.resources.edited_manifest_fields import FieldDependence, ManifestChange
    from grove_shell.library.cluster import ChosenRules, Cluster
    from grove_shell.library.comparisons import Comparison, Difference, OperatorUpgrade, compare
    from grove_shell.library.edits import Edit, NewSet, ServingDuringEdit
    from grove_shell.library.explanations import Explanation, Reasoned, explain
    from grove_shell.library.objects import CliqueState, PodState, ReplicaState, SetState
    from grove_shell.library.plans import Plan, forecast, plan
    from grove_shell.library.reading import read, read_live
    from grove_shell.library.rule_sets import rule_set_names
    from grove_shell.library.scheduling_gates import GatedPod
    from grove_shell.library.steps import PlannedStep, WithheldStep
    from grove_shell.library.tables import Table
    from grove_shell.library.terminations import Termination, Waiting
    from grove_shell.library.validation import ManifestVerdict, Remark, ValidationResult, validate
    from grove_shell.reading.input_faults import BadInput, InputFault

_MODULES = {
    "library.cluster": ("ChosenRules", "Cluster"),
    "library.comparisons": ("Comparison", "Difference", "OperatorUpgrade", "compare"),
    "library.edits": ("Edit", "NewSet", "ServingDuringEdit"),
    "library.explanations": ("Explanation", "Reasoned", "explain"),
    "library.scheduling_gates": ("GatedPod",),
    "library.objects": ("CliqueState", "PodState", "ReplicaState", "SetState"),
    "library.plans": ("Plan", "forecast", "plan"),
    "library.reading": ("read", "read_live"),
    "library.rule_sets": ("rule_set_names",),
    "library.steps": ("PlannedStep", "WithheldStep"),
    "library.tables": ("Table",),
    "library.terminations": ("Termination", "Waiting"),
    "library.validation": ("ManifestVerdict", "Remark", "ValidationResult", "validate"),
    "reading.input_faults": ("BadInput", "InputFault"),
}
_OF_CORE = {
    "plan.update_forecast": ("PodsAndGpus",),
    "resources.edited_manifest_fields": ("FieldDependence", "ManifestChange"),
}
_HOMES = {
    name: f"{package}.{module}"
    for package, modules in (("grove_shell", _MODULES), ("grove_core", _OF_CORE))
    for module, names in modules.items()
    for name in names
}

__all__ = (
    "BadInput",
    "ChosenRules",
    "CliqueState",
    "Cluster",
    "Comparison",
    "Difference",
    "Edit",
    "Explanation",
    "FieldDependence",
    "GatedPod",
    "InputFault",
    "ManifestChange",
    "ManifestVerdict",
    "NewSet",
    "OperatorUpgrade",
    "Plan",
    "PlannedStep",
    "PodState",
    "PodsAndGpus",
    "Reasoned",
    "Remark",
    "ReplicaState",
    "ServingDuringEdit",
    "SetState",
    "Table",
    "Termination",
    "ValidationResult",
    "Waiting",
    "WithheldStep",
    "compare",
    "explain",
    "forecast",
    "plan",
    "read",
    "read_live",
    "rule_set_names",
    "validate",
)


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever is exported
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - see above

    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return [*__all__]
