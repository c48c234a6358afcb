"""Objects as an API server stores them: versions, preconditions, finalizers, owners, and a history for watches."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from tests.fault_injection.virtual_time import now

Json = dict[str, Any]
_FOREGROUND: Final = "foregroundDeletion"
_POD: Final = "Pod"  # a deleted pod stays until the kubelet reports its end


class Address(NamedTuple):
    """Where an object is."""

    kind: str
    namespace: str
    name: str


class Change(NamedTuple):
    """An object before and after; None where there was none, or is none."""

    version: int
    before: Json | None
    after: Json | None


class Refused(Exception):
    """The server would not."""

    def __init__(self, code: int, reason: str, words: str) -> None:
        super().__init__(words)
        self.code, self.reason = code, reason


class Store:
    """Objects by address.

    Attributes:
        history: by kind, oldest first.
        changed: is called after every change.
    """

    def __init__(self) -> None:
        self.version = 1000
        self.there: dict[Address, Json] = {}
        self.history: dict[str, list[Change]] = {}
        self.changed: Callable[[], None] = lambda: None
        self._uids = 0
        self._kinds: dict[str, dict[Address, Json]] = {}
        self._owned: dict[str, tuple[int, dict[str, list[Json]]]] = {}  # kind -> its changes so far; uid of an owner
        self._collected = 0  # version at which the garbage collector found nothing to do

    def of(self, kind: str, namespace: str = "") -> list[Json]:
        return [raw for at, raw in self._kinds.get(kind, {}).items() if namespace in {"", at.namespace}]

    def owned_by(self, uid: str, kind: str) -> list[Json]:
        changes = len(self.history.get(kind, ()))
        if self._owned.get(kind, (-1, {}))[0] != changes:
            owned: dict[str, list[Json]] = {}
            for raw in self.of(kind):
                for owner in {owner["uid"] for owner in owners_of(raw)}:
                    owned.setdefault(owner, []).append(raw)
            self._owned[kind] = (changes, owned)
        return list(self._owned[kind][1].get(uid, ()))

    def get(self, address: Address) -> Json:
        if address not in self.there:
            raise Refused(404, "NotFound", f"{address.name} not found")
        return self.there[address]

    def create(self, address: Address, raw: Json) -> Json:
        if address in self.there:
            raise Refused(409, "AlreadyExists", f"{address.name} already exists")
        self._uids += 1
        made = _copied(raw)
        made["metadata"] |= {"uid": f"uid-{self._uids}", "creationTimestamp": _stamp(), "generation": 1}
        made.pop("status", None)
        return self._keep(address, made)

    def change(self, address: Address, change: Callable[[Json], object]) -> Json:
        """Edit by a function; an edit without a difference is no change; the last finalizer's removal deletes."""
        before = self.get(address)
        after = _copied(before)
        change(after)
        if after == before:
            return before
        if after.get("spec") != before.get("spec"):
            after["metadata"]["generation"] = before["metadata"]["generation"] + 1
        if is_leaving(after) and not after["metadata"].get("finalizers") and address.kind != _POD:
            return self.remove(address)
        return self._keep(address, after)

    def patch(self, address: Address, fields: Json) -> Json:
        """Merge; a version or a uid in it must be that of the object."""
        self.check(address, fields.get("metadata", {}))
        return self.change(address, lambda raw: _merge(raw, fields))

    def check(self, address: Address, write_key: Json) -> None:
        """Check that the object still is the judged one."""
        meta = self.get(address)["metadata"]
        if any(write_key.get(key) not in {None, meta[key]} for key in ("uid", "resourceVersion")):
            raise Refused(409, "Conflict", f"{address.name}: the object has been modified")

    def delete(self, address: Address, write_key: Json, *, foreground: bool = False) -> None:
        """At once, or when its finalizers are gone."""
        self.check(address, write_key)
        raw = self.get(address)
        finalizers = [*(raw["metadata"].get("finalizers") or ()), *([_FOREGROUND] if foreground else [])]
        if not finalizers and address.kind != _POD:
            self.remove(address)
        elif not is_leaving(raw):
            leaving = {"deletionTimestamp": _stamp(), **({"finalizers": finalizers} if finalizers else {})}
            self.change(address, lambda it: it["metadata"].update(leaving))

    def remove(self, address: Address) -> Json:
        raw = self.there.pop(address)
        del self._kinds[address.kind][address]
        self._report(address.kind, raw, None)
        return raw

    def collect_garbage(self) -> None:
        """One turn of the garbage collector: deletes objects without owners, and those that go before their owner."""
        if self._collected == self.version:
            return
        self._collected = self.version
        uids = {raw["metadata"]["uid"] for raw in self.there.values()}
        leaving = {
            raw["metadata"]["uid"]: address
            for address, raw in self.there.items()
            if _FOREGROUND in (raw["metadata"].get("finalizers") or ())
        }
        held = {owner["uid"] for raw in self.there.values() for owner in owners_of(raw)}
        for address, raw in list(self.there.items()):
            owners = {owner["uid"] for owner in owners_of(raw)}
            if owners and not owners & (uids - leaving.keys()) and not is_leaving(raw):
                self.delete(address, {}, foreground=bool(owners & leaving.keys()))
        for uid, address in leaving.items():
            if uid not in held:
                self.change(address, lambda raw: raw["metadata"]["finalizers"].remove(_FOREGROUND))

    def _keep(self, address: Address, raw: Json) -> Json:
        before, self.there[address] = self.there.get(address), raw
        self._kinds.setdefault(address.kind, {})[address] = raw
        raw["metadata"]["resourceVersion"] = str(self.version + 1)
        self._report(address.kind, before, raw)
        return raw

    def _report(self, kind: str, before: Json | None, after: Json | None) -> None:
        self.version += 1
        self.history.setdefault(kind, []).append(Change(self.version, before, after))
        self.changed()


def owners_of(raw: Json) -> list[Json]:
    found: list[Json] = raw["metadata"].get("ownerReferences") or []
    return found


def is_leaving(raw: Json) -> bool:
    return bool(raw["metadata"].get("deletionTimestamp"))


def _stamp() -> str:
    return f"{now():%Y-%m-%dT%H:%M:%SZ}"


def _copied(value: Any) -> Any:
    """Return a deep copy of JSON; ``copy.deepcopy`` takes twice as long, for it looks for repeated objects."""
    if isinstance(value, dict):
        return {key: _copied(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_copied(one) for one in value]
    return value


def _merge(into: Json, fields: Json) -> None:
    for key, value in fields.items():
        if value is None:
            into.pop(key, None)
        elif isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = _copied(value)
