"""grove_core: decides what a Grove operator should do, and says why. Values in, values out; no I/O, no clock.

``reconcile`` is loaded when somebody asks for it: whoever needs a word of the core need not load all of it, pydantic
included. A program that waits in every pod does.
"""

from types import ModuleType
from typing import TYPE_CHECKING, Any

import grove_core
from grove_core.version import VERSION

if TYPE_CHECKING:
    from grove_core.reconcile import reconcile

__all__ = ("VERSION", "reconcile")


class _Package(ModuleType):
    """A package in which ``reconcile`` is the function, also once somebody has loaded the module of that name."""

    def __setattr__(self, name: str, value: object) -> None:
        is_module = name == "reconcile" and isinstance(value, ModuleType)
        super().__setattr__(name, value.reconcile if is_module else value)  # type: ignore[attr-defined]  # of that module


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever is exported
    if name != "reconcile":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from grove_core.reconcile import reconcile  # noqa: PLC0415 - see above

    return reconcile


grove_core.__class__ = _Package  # of this very package: ``sys``, which has it too, is not for the core
