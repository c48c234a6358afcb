"""grove_core: decides what a Grove operator should do, and says why. Values in, values out; no I/O, no clock.

``reconcile`` is imported on first access, so that a program that needs only a part of the core does not import all of
it and pydantic. The init container that runs in every pod is such a program.
"""

from types import ModuleType
from typing import TYPE_CHECKING, Any

import grove_core
from grove_core.version import VERSION

if TYPE_CHECKING:
    from grove_core.reconcile import reconcile

__all__ = ("VERSION", "reconcile")


class _Package(ModuleType):
    """A package whose ``reconcile`` is the function, even after the module of that name was imported."""

    def __setattr__(self, name: str, value: object) -> None:
        is_module = name == "reconcile" and isinstance(value, ModuleType)
        super().__setattr__(name, value.reconcile if is_module else value)  # type: ignore[attr-defined]  # of that module


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever is exported
    if name != "reconcile":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from grove_core.reconcile import reconcile  # noqa: PLC0415 - see above

    return reconcile


grove_core.__class__ = _Package  # not through ``sys.modules``, since the core does not import ``sys``
