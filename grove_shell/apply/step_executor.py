"""Executes steps as requests to an API server, and applies each response to the cache.

A creation is a POST, a change is a patch of exactly the fields that differ, a status is applied as a whole by its one
writer (specs/decisions/0010). Every request but a POST names the version that was judged.
"""

from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Any, Final, Protocol, assert_never

from grove_core.kernel.frozen import thaw
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import (
    Apply,
    Attempt,
    Create,
    Delete,
    DropFinalizer,
    Ensure,
    Make,
    Outcome,
    SetStatus,
    Step,
)
from grove_core.resources.fields import Fields
from grove_core.resources.meta import Resource, read_identity
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podgang import PodGang
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.statuses import status_as_json, with_status
from grove_shell.apply.ensure import ensure
from grove_shell.apply.label_repair import LabelRepair, label_missing
from grove_shell.apply.outcomes import Undecided, attempt_of, attempt_of_creation, exists_already, undecided_because
from grove_shell.apply.patch import WRITER, patched
from grove_shell.client.api import APPLY, JSON, STRATEGIC, Api, Unless, Unreachable, Withdrawn
from grove_shell.client.kinds import KINDS, kind_of, path_of
from grove_shell.client.lists import accept_header
from grove_shell.client.response import NOT_FOUND, Response
from grove_shell.client.response_check import confirms_absence, confirms_write, shows_object

STATUS_WRITER: Final = "grove-operator-status"
_POD: Final = "Pod"
_DELETED: Final = "it was deleted a moment ago"


class WriteCache(Protocol):
    """What the executor needs of a cache."""

    def put(self, kind: str, raw: Mapping[str, Any]) -> None:
        """Apply a new or changed object."""
        ...

    def drop(self, kind: str, raw: Mapping[str, Any], *, confirmed: bool = ...) -> None:
        """Apply a deletion; ``confirmed`` where the server returned that the object does not exist."""
        ...

    def find(self, ref: Ref) -> Resource | Pod | None:
        """Return an object by its address; None without one."""
        ...


class StepExecutor:
    """Executes steps on an API server.

    Attributes:
        unlabelled_pods: namespace -> how often a pod was read there whose label could not be restored.
    """

    def __init__(self, api: Api, cache: WriteCache) -> None:
        """Write nothing yet; responses are applied to ``cache``."""
        self.unlabelled_pods = Counter[str]()
        self._labels = LabelRepair(api)
        self._api = api
        self._cache = cache

    async def attempt(self, step: Step, unless: Unless = lambda: None) -> Attempt:
        """Execute a step and return its outcome; a refusal is an outcome, not an exception.

        Args:
            step: the write.
            unless: returns why a deletion or creation is withdrawn, called right before it is sent; None to send it
                (OP-074, OP-106).
        """
        try:
            return await self._try(step, unless)
        except Undecided as fault:
            return Attempt(step, fault.outcome, str(fault))
        except Unreachable as fault:
            return Attempt(step, Outcome.UNREACHABLE, str(fault))
        except Withdrawn as why:
            return Attempt(step, Outcome.CONFLICT, str(why))

    async def read(self, ref: Ref) -> bool:
        """Read an object from the server into the cache; return whether it exists.

        Raises:
            Unreachable: there was no response.
            Undecided: the response neither shows the object nor confirms that it does not exist (OP-066), or its label
                could not be restored (OP-018).
        """
        before = self._cache.find(ref)
        response = await self._api.request("GET", path_of(ref))
        if shows_object(response, ref):
            raw = await self._labels.repaired(ref, response.json())
            if raw is not None:
                self._cache.put(ref.kind, raw)
                return True
        elif not confirms_absence(response, ref):
            raise undecided_because(response, ref, f"{ref.short}: {response.message}")
        if before is not None:  # a later object of the name may have arrived since
            self._cache.drop(ref.kind, _stub(ref, Guard(before.uid, "")), confirmed=True)
        return False

    async def repaired(self, ref: Ref, raw: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return an object with its selector label restored; None if it was deleted or is not of Grove (OP-018).

        Raises:
            Unreachable: the label was not restored; the pods of the namespace have to be listed again (OP-106).
        """
        try:
            return await self._labels.repaired(ref, raw)
        except Unreachable:
            if ref.kind == _POD:
                self.unlabelled_pods[ref.namespace] += 1
            raise

    async def is_unchanged(self, ref: Ref, guard: Guard) -> bool:
        """Return whether the server has an object in the version that was judged; the response enters the cache."""
        response = await self._api.request("GET", path_of(ref))
        if not shows_object(response, ref):
            return False
        raw = response.json()
        self._cache.put(ref.kind, raw)
        meta = raw["metadata"]
        return (meta.get("uid"), meta.get("resourceVersion")) == (guard.uid, guard.resource_version)

    async def _try(self, step: Step, unless: Unless) -> Attempt:
        match step.action:
            case Create() | Ensure():
                return await self._make(step, step.action, unless)
            case Apply() as action:
                response = await self._apply(step.target, action)
            case SetStatus() as action:
                found = self._cache.find(step.target)
                if not isinstance(found, PodCliqueSet | ScalingGroup | PodClique | PodGang):
                    return Attempt(step, Outcome.CONFLICT, "not found")
                response = await self._set_status(found, action)
            case Delete() as action:
                response = await self._delete(step.target, action, unless)
            case DropFinalizer() as action:
                found = self._cache.find(step.target)
                if not isinstance(found, Resource):
                    return Attempt(step, Outcome.CONFLICT, "not found")
                response = await self._drop_finalizer(found, action)
            case _:
                assert_never(step.action)
        is_gone = confirms_absence(response, step.target)
        if response.status == NOT_FOUND and not is_gone:
            return Attempt(step, Outcome.UNREACHABLE, response.message)
        if is_gone and (guard := step.action.guard) is not None:
            self._cache.drop(step.target.kind, _stub(step.target, guard), confirmed=True)
        return await self._answered(step, response)

    async def _answered(self, step: Step, response: Response) -> Attempt:
        """Return the outcome of a write, and apply the object in the response to the cache.

        A created object whose label cannot be restored is invisible to every watch, so its creation is tried again.
        """
        outcome = attempt_of(response, step.target)
        if not confirms_write(response, step.target):
            return Attempt(step, *outcome)
        try:
            is_there = await self._take_in(step.target, response)
            not_created = (Outcome.CONFLICT, _DELETED)
        except Unreachable as fault:
            is_there, not_created = False, (Outcome.UNREACHABLE, str(fault))
        return Attempt(step, *(outcome if is_there or not isinstance(step.action, Make) else not_created))

    async def _make(self, step: Step, action: Make, unless: Unless) -> Attempt:
        if isinstance(action, Create):
            return await self._create(step, action, unless)
        put = partial(self._cache.put, step.target.kind)
        return Attempt(step, *await ensure(self._api, step.target, action.manifest, WRITER, put))

    async def _create(self, step: Step, action: Create, unless: Unless) -> Attempt:
        kind = kind_of(step.target)
        manifest = thaw(action.manifest)
        response = await self._api.request(
            "POST",
            kind.path(step.target.namespace),
            query={"fieldManager": WRITER},
            body=manifest,
            accept=accept_header(kind, a_list=False),
            unless=unless,
        )
        if exists_already(response):
            return await self._as_found(step, manifest, response)
        if response.ok:
            return await self._answered(step, response)
        return Attempt(step, *attempt_of_creation(response, step.target))

    async def _as_found(self, step: Step, manifest: Mapping[str, Any], refusal: Response) -> Attempt:
        """Return the outcome of a creation whose name is taken: by an earlier try (RS3), or by another writer."""
        response = await self._api.request(
            "GET", path_of(step.target), accept=accept_header(KINDS[step.target.kind], a_list=False)
        )
        if response.status == NOT_FOUND:
            return Attempt(step, Outcome.CONFLICT, _DELETED)
        if not shows_object(response, step.target):
            return Attempt(step, *attempt_of(response, step.target))
        raw = response.json()
        is_there = not label_missing(step.target.kind, raw) and await self._take_in(step.target, response)
        found, wanted = (
            read_identity(Fields(one, "", []), step.target.api_version, step.target.kind, None)
            for one in (raw, manifest)
        )
        if found["owner_uid"] != wanted["owner_uid"]:
            holder = f"{found['owner_kind']} {found['owner_name']}" if found["owner_uid"] else "another owner"
            return Attempt(step, Outcome.REFUSED, f"{refusal.message}; it belongs to {holder}")
        if found["deleting"]:
            return Attempt(step, Outcome.CONFLICT, "the one before is being deleted")
        if is_there or await self._take_in(step.target, response):  # its owner is checked before its label is restored
            return Attempt(step, Outcome.DONE)
        return Attempt(step, Outcome.CONFLICT, _DELETED)

    async def _apply(self, target: Ref, action: Apply) -> Response:
        """Patch fields; of a pod without its version: only gates are removed, and pods change all the time."""
        fields = thaw(action.fields)
        if target.kind != _POD:
            return await patched(self._api, target, fields, action.guard)
        body = {**fields, "metadata": {**fields.get("metadata", {}), "uid": action.guard.uid}}
        return await self._api.request(
            "PATCH", path_of(target), query={"fieldManager": WRITER}, body=body, content_type=STRATEGIC
        )

    async def _set_status(
        self, found: PodCliqueSet | ScalingGroup | PodClique | PodGang, action: SetStatus
    ) -> Response:
        ref, guard = found.ref, action.guard
        status: Any = thaw(status_as_json(with_status(found, action.fields)))
        metadata = {
            "name": ref.name,
            "namespace": ref.namespace,
            "uid": guard.uid,
            "resourceVersion": guard.resource_version,
        }
        body = {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": metadata, "status": status}
        query = {"fieldManager": STATUS_WRITER, "force": "true"}
        return await self._api.request("PATCH", path_of(ref, "status"), query=query, body=body, content_type=APPLY)

    async def _delete(self, target: Ref, action: Delete, unless: Unless) -> Response:
        guard = action.guard
        body = {
            "preconditions": {"uid": guard.uid, "resourceVersion": guard.resource_version},
            "propagationPolicy": "Foreground" if action.foreground else "Background",
        }
        return await self._api.request("DELETE", path_of(target), body=body, content_type=JSON, unless=unless)

    async def _drop_finalizer(self, found: Resource, action: DropFinalizer) -> Response:
        kept = [name for name in found.finalizers if name != action.finalizer]
        return await patched(self._api, found.ref, {"metadata": {"finalizers": kept}}, action.guard)

    async def _take_in(self, target: Ref, response: Response) -> bool:
        """Apply the object in a response to the cache, its label restored (OP-018); return whether it exists."""
        raw = response.json()
        if raw.get("kind") == target.kind:
            found = await self.repaired(target, raw)
            if found is None:
                return False
            self._cache.put(target.kind, found)
        elif raw.get("kind") == "PartialObjectMetadata":  # of a Secret nothing else is requested (OP-006)
            self._cache.put(target.kind, {**raw, "apiVersion": target.api_version, "kind": target.kind})
        elif raw.get("kind") == "Status" and (uid := response.details.get("uid")):
            self._cache.drop(target.kind, _stub(target, Guard(uid, "")), confirmed=True)
            return False
        return True


def _stub(ref: Ref, guard: Guard) -> dict[str, Any]:
    return {"metadata": {"namespace": ref.namespace, "name": ref.name, "uid": guard.uid}}
