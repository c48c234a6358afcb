"""The constants of the model: each with its unit in its name, all of them in one file that a calibration can write.

Shapes follow from the protocol, knees from these: r, p, m, s0, f0, f1, e, w and C_max of the cost model.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field

from grove_core.kernel.errors import Problem
from grove_shell.settings.strict_model import API_VERSION, StrictModel, read_strictly

SHIPPED: Final = Path(__file__).with_name("costs.yaml")
"""What counts where nobody names another file."""


def _one_line(text: object) -> object:
    """Words with one blank between them: in the file of runs a text is a cell of one line (CV-031)."""
    return " ".join(text.split()) if isinstance(text, str) else text


_Micros = Annotated[float, Field(ge=0, le=60_000_000)]
_NanosPerByte = Annotated[float, Field(ge=0, le=1_000_000)]
_Millis = Annotated[int, Field(ge=1, le=3_600_000)]


class Costs(StrictModel):
    """What things cost a server. Every field has to be there: half a calibration is none (CV-040).

    Attributes:
        source: where the numbers are from, for captions; kept as one line.
        request_us: processor time of any request (r).
        put_ns_per_byte: of an object that is sent whole (p); a list costs the same.
        stale_ns_per_byte: of an object that is sent whole on an old version, and answered 409.
        merge_ns_per_byte: of an object that fields are applied to (m).
        serialise_ns_per_byte: of an object, once for each event (s0).
        watcher_us, watcher_ns_per_byte: for each watcher of an event (f0, f1).
        store_us: processor time of the store for each transaction.
        commit_us: from a transaction to its answer, without processor time (e).
        wire_us: one way, for requests, answers and events (w).
        seats: writes that are carried out at once (C_max).
        seat_wait_ms: how long a write queues for a seat before it is answered 429.
        retry_after_ms: what that answer asks for.
        request_limit_ms: after which a write is answered 504.
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
    """Read constants; where there are problems, or nothing at all, those of ours stand in for them."""
    if not raw:
        return shipped_costs(), ()
    return read_strictly(Costs, raw, shipped_costs)


@cache
def shipped_costs() -> Costs:
    """The constants that come with Grove."""
    import yaml  # noqa: PLC0415 - whoever brings a file of constants needs none of it

    return Costs.model_validate(yaml.safe_load(SHIPPED.read_text(encoding="utf-8")))
