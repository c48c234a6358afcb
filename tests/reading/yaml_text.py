"""Text that is read, with libyaml or without."""

import io
from typing import Any, Final

import pytest

from grove_shell.reading.input_faults import InputFault
from grove_shell.reading.input_items import InputItem
from grove_shell.reading.utf8_stream import Utf8Stream
from grove_shell.reading.yaml_input_items import input_items_from_yaml

BOTH: Final = pytest.mark.parametrize("pure", [False, True], ids=["libyaml", "python"])


def read(text: str, *, pure: bool = False, chunk_size: int = 1 << 20) -> tuple[list[InputItem], list[InputFault]]:
    faults: list[InputFault] = []
    stream = Utf8Stream(io.BytesIO(text.encode()), chunk_size)
    return list(input_items_from_yaml(stream, "f.yaml", faults, pure=pure)), faults


def values(text: str, *, pure: bool = False) -> list[Any]:
    items, faults = read(text, pure=pure)
    assert not faults, [str(fault) for fault in faults]
    return [item.value for item in items]


def places(text: str, *, pure: bool = False) -> list[tuple[int | None, int | None, str, str]]:
    _, faults = read(text, pure=pure)
    return [(fault.line, fault.column, fault.object, fault.path) for fault in faults]
