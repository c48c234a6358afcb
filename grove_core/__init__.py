"""grove_core: decides what a Grove operator should do, and says why. Values in, values out; no I/O, no clock.

``reconcile(snapshot, rules)`` returns the plan of one PodCliqueSet. What reads files and clusters is in
``grove_shell``.

Names are imported on first access, so that a program that needs only a part of the core does not import all of it and
pydantic. The init container that runs in every pod is such a program.
"""

from types import ModuleType
from typing import TYPE_CHECKING, Any

import grove_core
from grove_core.version import VERSION

if TYPE_CHECKING:
    from grove_core.plan.plan import Plan
    from grove_core.reconcile import reconcile
    from grove_core.rule_sets.rule_set import RuleSet
    from grove_core.rule_sets.rule_set_by_name import rule_set, rule_set_names
    from grove_core.rule_sets.sparing_rule_sets import SparedReplica, rule_set_that_spares
    from grove_core.snapshot.snapshot import Snapshot

__all__ = (
    "VERSION",
    "Plan",
    "RuleSet",
    "Snapshot",
    "SparedReplica",
    "reconcile",
    "rule_set",
    "rule_set_names",
    "rule_set_that_spares",
)


class _Package(ModuleType):
    """A package whose ``reconcile`` is the function, even after the module of that name was imported."""

    def __setattr__(self, name: str, value: object) -> None:
        is_module = name == "reconcile" and isinstance(value, ModuleType)
        super().__setattr__(name, value.reconcile if is_module else value)  # type: ignore[attr-defined]  # of that module

    def __dir__(self) -> list[str]:
        return [*__all__]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever is exported
    """Return an exported name from its module."""
    match name:
        case "reconcile":
            from grove_core.reconcile import reconcile  # noqa: PLC0415 - see above

            return reconcile
        case "rule_set" | "rule_set_names":
            from grove_core.rule_sets import rule_set_by_name  # noqa: PLC0415 - see above

            return getattr(rule_set_by_name, name)
        case "SparedReplica" | "rule_set_that_spares":
            from grove_core.rule_sets import sparing_rule_sets  # noqa: PLC0415 - see above

            return getattr(sparing_rule_sets, name)
        case "RuleSet":
            from grove_core.rule_sets.rule_set import RuleSet  # noqa: PLC0415 - see above

            return RuleSet
        case "Plan":
            from grove_core.plan.plan import Plan  # noqa: PLC0415 - see above

            return Plan
        case "Snapshot":
            from grove_core.snapshot.snapshot import Snapshot  # noqa: PLC0415 - see above

            return Snapshot
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


grove_core.__class__ = _Package  # not through ``sys.modules``, since the core does not import ``sys``
