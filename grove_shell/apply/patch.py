"""A merge patch of one object in the version that was judged (OP-010)."""

from collections.abc import Mapping
from typing import Any, Final

from grove_core.kernel.refs import Guard, Ref
from grove_shell.client.api import MERGE, Api
from grove_shell.client.kinds import path_of
from grove_shell.client.response import Response

WRITER: Final = "grove-operator"


async def patched(api: Api, target: Ref, fields: Mapping[str, Any], guard: Guard) -> Response:
    """Return the response to a merge patch of these fields. Raises Unreachable where there is none."""
    write_key = {"uid": guard.uid, "resourceVersion": guard.resource_version}
    body = {**fields, "metadata": {**fields.get("metadata", {}), **write_key}}
    return await api.request("PATCH", path_of(target), query={"fieldManager": WRITER}, body=body, content_type=MERGE)
