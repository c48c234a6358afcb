"""Objections and warnings of admission as JSON."""

from typing import Any

from grove_core.document.writing import reason_as_json
from grove_core.kernel.admission import Remark


def remark_as_json(found: Remark) -> dict[str, Any]:
    """Return an objection or a warning as JSON."""
    return {"path": found.path, "got": found.got, **reason_as_json(found.reason)}
