"""What an API server in memory stores, and which version it has after a write."""

from typing import TypeAlias

from grove_core.resources.after_write import Known
from grove_core.resources.names import index_from

StoredObject: TypeAlias = Known


def bumped(resource_version: str) -> str:
    """The version after one more write."""
    version, plus, writes = resource_version.rpartition("+")
    if not plus or index_from(writes) is None:
        version, writes = resource_version, "0"
    return f"{version}+{int(writes) + 1}"
