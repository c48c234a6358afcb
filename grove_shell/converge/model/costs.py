"""The constants of the model, each with its unit in its name, in one file that a calibration can write.

The shape of a curve follows from the protocol; where it bends follows from these constants, which are r, p, m, s0, f0,
f1, e, w and C_max of the cost model.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field

from grove_core.kernel.errors import Problem
from grove_shell.settings.strict_model import API_VERSION, StrictModel, read_strictly

SHIPPED: Final = Path(__file__).with_name("costs.yaml")
"""The default file of constants."""


def _one_line(text: object) -> object:
    """Join words by single spaces: in the file of runs a text is a cell of one line (CV-030)."""
    return " ".join(text.split()) if isinstance(text, str) else text


_Micros = Annotated[float, Field(ge=0, le=60_000_000)]
_NanosPerByte = Annotated[float, Field(ge=0, le=1_000_000)]
_Millis = Annotated[int, Field(ge=1, le=3_600_000)]


class Costs(StrictModel):
    """Costs of requests, events and commits. Every field is required, as the constants belong together (CV-041).

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


def costs_of(raw: Mapping[str, Any]) -> tuple[Costs, tuple[Problem, ...]]:
    """Parse constants.

    Returns:
        The constants and their problems; the default constants if there are problems, or if ``raw`` is empty.
    """
    if not raw:
        return shipped_costs(), ()
    return read_strictly(Costs, raw, shipped_costs)


@cache
def shipped_costs() -> Costs:
    """Return the default constants."""
    import yaml  # noqa: PLC0415 - not needed with a file of constants

    return Costs.model_validate(yaml.safe_load(SHIPPED.read_text(encoding="utf-8")))
