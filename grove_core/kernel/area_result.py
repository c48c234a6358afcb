"""The result of one area for one root: its wants, its findings, and when to plan again."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from grove_core.kernel.decisions import Finding
from grove_core.kernel.wants import Desired


class AreaResult(NamedTuple):
    """The wants, findings and next wake time of one area, or of several areas together.

    Attributes:
        wake_at: when time alone may change the result; None if never (PL-008).
    """

    wants: Desired = Desired()
    findings: tuple[Finding, ...] = ()
    wake_at: datetime | None = None


def union(results: Iterable[AreaResult]) -> AreaResult:
    """Return the results of several areas as one; earlier ones come first where two want one object (PL-013)."""
    found = tuple(results)
    return AreaResult(
        Desired.union(one.wants for one in found),
        tuple(finding for one in found for finding in one.findings),
        min((one.wake_at for one in found if one.wake_at is not None), default=None),
    )
