"""The constants of the model: what requests cost, in a file that a calibration can write, and how large objects are.

The shape of a curve follows from the protocol; where it bends follows from the costs: r, p, m, s0, f0, f1, e, w and
C_max of the cost model. Sizes are those of compact JSON with node names of 20 characters and clique ids of 42, and
agree with encoded objects (tests/property/convergence/test_sizes.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field

from grove_core.areas.domain_cliques.daemon.registration_protocols import RegistrationProtocol
from grove_core.kernel.errors import ObjectProblem
from grove_shell.settings.shared_settings import API_VERSION, StrictSettingsModel, parse_settings_strictly

SHIPPED: Final = Path(__file__).with_name("costs.yaml")
"""The default file of constants."""


def _one_line(text: object) -> object:
    """Join words by single spaces: in the file of runs a text is a cell of one line (CV-030)."""
    return " ".join(text.split()) if isinstance(text, str) else text


_Micros = Annotated[float, Field(ge=0, le=60_000_000)]
_NanosPerByte = Annotated[float, Field(ge=0, le=1_000_000)]
_Millis = Annotated[int, Field(ge=1, le=3_600_000)]


class ModelServerCosts(StrictSettingsModel):
    """Costs of requests, events and commits. Every field is required, as the constants belong together (CL-005).

    Attributes:
        source: the origin of the numbers, for captions; kept as one line.
        request_us: processor time of any request (r).
        put_ns_per_byte: for a whole object in a request (p), and for a list.
        stale_ns_per_byte: for a whole object with an old version, answered with 409.
        merge_ns_per_byte: for an object changed by server-side apply (m).
        serialise_ns_per_byte: for an object, once for each event (s0).
        watcher_us, watcher_ns_per_byte: for each watcher of an event (f0, f1).
        store_us: processor time of the store for each transaction.
        commit_us: from a transaction to its response, without processor time (e).
        wire_us: one way, for requests, responses and events (w).
        seats: writes executed at once (C_max).
        seat_wait_ms: how long a write waits for a seat before it is answered with 429.
        retry_after_ms: Retry-After of that response.
        request_limit_ms: after which a write is answered with 504.
    """

    api_version: Literal["operator.config.grove.io/v1alpha1"] = API_VERSION
    kind: Literal["ConvergenceCosts"] = "ConvergenceCosts"
    source: Annotated[str, BeforeValidator(_one_line), Field(min_length=1)]
    request_us: _Micros
    put_ns_per_byte: _NanosPerByte
    stale_ns_per_byte: _NanosPerByte
    merge_ns_per_byte: _NanosPerByte
    serialise_ns_per_byte: _NanosPerByte
    watcher_us: _Micros
    watcher_ns_per_byte: _NanosPerByte
    store_us: _Micros
    commit_us: _Micros
    wire_us: _Micros
    seats: Annotated[int, Field(ge=1, le=100_000)]
    seat_wait_ms: _Millis
    retry_after_ms: _Millis
    request_limit_ms: _Millis


def parse_model_server_costs(raw: Mapping[str, Any]) -> tuple[ModelServerCosts, tuple[ObjectProblem, ...]]:
    """Parse constants.

    Returns:
        The constants and their problems; the default constants if there are problems, or if ``raw`` is empty.
    """
    if not raw:
        return default_model_server_costs(), ()
    return parse_settings_strictly(ModelServerCosts, raw, default_model_server_costs)


@cache
def default_model_server_costs() -> ModelServerCosts:
    """Return the default constants."""
    import yaml  # noqa: PLC0415 - not needed with a file of constants

    return ModelServerCosts.model_validate(yaml.safe_load(SHIPPED.read_text(encoding="utf-8")))


LARGEST_BYTES: Final = 1_572_864
"""1.5 MiB: the largest request that etcd accepts by default."""
DOMAIN_BYTES: Final = 700
"""A ComputeDomain or a ComputeDomainClique without entries."""
RECORD_BYTES: Final = 165
"""The record of a clique in ``status.cliques``, with its share of managedFields."""


@dataclass(frozen=True, slots=True)
class DaemonEntrySizes:
    """Bytes of each daemon in the object it registers in.

    Attributes:
        entry: its entry, and its owner reference in a clique.
        managed: its share of managedFields: a record of its own with server-side apply, else its part of a shared one.
        body: of a server-side apply; 0 if the whole object is sent.
    """

    entry: int
    managed: int
    body: int

    def stored_object_bytes(self, entries: int) -> int:
        """Return the bytes of an object with this number of entries."""
        whole = DOMAIN_BYTES + entries * (self.entry + self.managed)
        if whole > LARGEST_BYTES and not self.body:
            return (
                DOMAIN_BYTES + entries * self.entry
            )  # etcd refuses it, and the API server retries without managedFields
        return whole

    def write_body_bytes(self, entries: int) -> int:
        """Return the bytes of the body of a write to such an object."""
        return self.body or self.stored_object_bytes(entries)


SIZES: Final = MappingProxyType(
    {
        RegistrationProtocol.RMW: DaemonEntrySizes(entry=138, managed=118, body=0),
        RegistrationProtocol.SSA: DaemonEntrySizes(entry=138, managed=344, body=278),
        RegistrationProtocol.SHARDED: DaemonEntrySizes(entry=142 + 151, managed=517, body=752),
        RegistrationProtocol.SHARDED_RMW: DaemonEntrySizes(entry=142 + 151, managed=118, body=0),
    }
)


def is_object_too_large(protocol: RegistrationProtocol, entries: int) -> bool:
    """Return whether the store refuses an object with this number of entries."""
    return SIZES[protocol].stored_object_bytes(entries) > LARGEST_BYTES


def expected_watch_bytes(protocol: RegistrationProtocol, nodes: int, clique_size: int) -> int:
    """Return the bytes of all watch events, if all daemons watch before the first of them writes (CV-010).

    Each daemon writes its entry and later its readiness, and each watcher of the object gets both events: objects grow
    with the first half of the writes, and keep their size then.
    """
    whole, rest = divmod(nodes, clique_size)
    sizes, parts = SIZES[protocol], [clique_size] * whole + [rest] * bool(rest) if protocol.sharded else [nodes]
    return sum(
        part
        * (
            sum(sizes.stored_object_bytes(entries) for entries in range(1, part + 1))
            + part * sizes.stored_object_bytes(part)
        )
        for part in parts
    )
