"""A change of some fields of one object, if it still is what was judged (OP-010)."""

from collections.abc import Mapping
from typing import Any, Final

from grove_core.kernel.refs import Guard, Ref
from grove_shell.client.answer import Answer
from grove_shell.client.api import MERGE, Api
from grove_shell.client.kinds import path_of

WRITER: Final = "grove-operator"


async def patched(api: Api, target: Ref, fields: Mapping[str, Any], guard: Guard) -> Answer:
    """Write these fields and leave all others. Raises Unreachable where there was no answer."""
    aim = {"uid": guard.uid, "resourceVersion": guard.resource_version}
    body = {**fields, "metadata": {**fields.get("metadata", {}), **aim}}
    return await api.request("PATCH", path_of(target), query={"fieldManager": WRITER}, body=body, content_type=MERGE)
