"""grove_core: decides what a Grove operator should do, and says why. Values in, values out; no I/O, no clock."""

from grove_core.reconcile import reconcile
from grove_core.version import VERSION

__all__ = ("VERSION", "reconcile")
