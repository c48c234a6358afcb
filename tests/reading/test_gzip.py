"""Compressed input is read like the text that it unpacks to."""

import gzip
import io
import json
import tracemalloc
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_shell.cli.main import run_command_line
from grove_shell.reading.audit_log import AuditLogFaults, audited_writes
from grove_shell.reading.gzip_stream import GzipStream, UnreadableGzip
from grove_shell.reading.input_faults import InputFault
from grove_shell.reading.input_items import MAX_CHARACTERS
from grove_shell.reading.input_sources import InputItem, input_items_in_path
from tests.replay.log_lines import LOG, lines_of

ROOT: Final = Path(__file__).parents[2]
DUMP: Final = ROOT / "examples/degraded.yaml"
NOW: Final = ("--now", "2026-11-20T09:00:00Z")
TEXT: Final = "id: a\n---\nid: b\n"


def read(path: Path | str, stdin: bytes = b"") -> tuple[list[str], list[InputFault]]:
    faults: list[InputFault] = []
    items: list[InputItem] = list(input_items_in_path(str(path), faults, io.BytesIO(stdin)))
    return [item.value["id"] for item in items], faults


def unpack(data: bytes, size: int, most: int = 1 << 30) -> tuple[bytes, str]:
    """What a stream returns in pieces of a size, and why it ends early."""
    stream, found = GzipStream(io.BytesIO(data), most=most), b""
    try:
        while piece := stream.read(size):
            found += piece
    except UnreadableGzip as error:
        return found, str(error.strerror)
    return found, ""


class TestIN084:
    """Input that begins like gzip data MUST be read as what it unpacks to, whatever its name and wherever it comes
    from: files, folders, standard input, snapshot files, audit logs and decision logs. Memory does not grow with the
    unpacked size.
    """

    @pytest.mark.parametrize("name", ["a.yaml.gz", "a.yml.gz", "a.gz", "a.yaml", "a"])
    def test_a_file_of_any_name(self, name: str, tmp_path: Path) -> None:
        (tmp_path / name).write_bytes(gzip.compress(TEXT.encode()))
        assert read(tmp_path / name) == (["a", "b"], [])

    def test_json_by_its_name(self, tmp_path: Path) -> None:
        (tmp_path / "a.json.gz").write_bytes(gzip.compress(b"a: b"))
        assert ["JSON" in fault.expected for fault in read(tmp_path / "a.json.gz")[1]] == [True]

    def test_standard_input(self) -> None:
        assert read("-", gzip.compress(TEXT.encode())) == (["a", "b"], [])

    def test_a_folder(self, tmp_path: Path) -> None:
        for name in ("a.json.gz", "b.yaml.gz", "c.yml.gz", "d.yaml", "e.log.gz"):
            text = json.dumps({"id": name}).encode()
            (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
        assert read(tmp_path) == (["a.json.gz", "b.yaml.gz", "c.yml.gz", "d.yaml"], [])

    def test_a_plan_is_the_same(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        packed = tmp_path / "dump.yaml.gz"
        packed.write_bytes(gzip.compress(DUMP.read_bytes()))
        pages = []
        for path in (DUMP, packed):
            assert run_command_line(["plan", "-f", str(path), *NOW, "-o", "json"], "grove") == 0
            pages.append(capsys.readouterr().out.replace(str(path), "DUMP"))
        assert pages[0] == pages[1]

    def test_places_of_problems_in_a_manifest(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        text = (ROOT / "examples/manifests/refused.yaml").read_bytes()
        pages = []
        for name, data in (("a.yaml", text), ("a.yaml.gz", gzip.compress(text))):
            (tmp_path / name).write_bytes(data)
            assert run_command_line(["validate", "-f", str(tmp_path / name)], "grove") == 1
            said = capsys.readouterr()
            pages.append((said.out + said.err).replace(str(tmp_path / name), "FILE"))
        assert pages[0] == pages[1]
        assert "FILE:" in pages[0]

    @given(data=st.binary(max_size=300), size=st.integers(1, 400), cut=st.integers(0, 300), padding=st.integers(0, 3))
    def test_members_and_padding(self, data: bytes, size: int, cut: int, padding: int) -> None:
        packed = gzip.compress(data[:cut]) + gzip.compress(data[cut:]) + bytes(padding)
        assert unpack(packed, size) == (data, "")

    def test_memory(self) -> None:
        packed = gzip.compress(b"x" * 64 * 1024 * 1024)
        tracemalloc.start()
        stream = GzipStream(io.BytesIO(packed))
        while stream.read(64 * 1024):
            pass
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert most < 2 * 1024 * 1024


class TestIN085:
    """Gzip data that is cut short or damaged, or that unpacks to more than the size in the table, MUST be one fault at
    the place where reading stopped. It ends its file, like a syntax error.
    """

    @pytest.mark.parametrize("name", ["a.yaml.gz", "a.json.gz"])
    def test_cut_short(self, name: str, tmp_path: Path) -> None:
        end = ",\n".join(f"{number * 7919 % 100003}" for number in range(90_000))
        text = '{"id": "a"}\n{"id": [' if "json" in name else "id: a\n---\nid: ["
        data = gzip.compress((text + end).encode())
        (tmp_path / name).write_bytes(data[: len(data) // 2])
        items, (fault,) = read(tmp_path / name)
        assert items == ["a"]
        assert (fault.got, fault.lost) == ("gzip data that is cut short", True)
        assert fault.line is not None
        assert 10_000 < fault.line < 90_000

    @given(data=st.binary(max_size=300), size=st.integers(1, 400), at=st.integers(0, 400))
    def test_every_cut_is_noticed(self, data: bytes, size: int, at: int) -> None:
        packed = gzip.compress(data)
        found, said = unpack(packed[: min(at, len(packed) - 1)], size)
        assert said == "gzip data that is cut short"
        assert data.startswith(found)

    @given(data=st.binary(min_size=1, max_size=300), at=st.integers(10, 400))
    def test_damage_is_noticed(self, data: bytes, at: int) -> None:
        packed = bytearray(gzip.compress(data))
        packed[min(at, len(packed) - 1)] ^= 0x55
        assert "gzip data" in unpack(bytes(packed), 64)[1]

    def test_other_bytes_behind_it(self) -> None:
        assert unpack(gzip.compress(b"abc") + b"abc", 64) == (b"abc", "damaged gzip data (incorrect header check)")

    def test_too_much(self) -> None:
        found, said = unpack(gzip.compress(bytes(3 << 20)), 1 << 20, most=2 << 20)
        assert len(found) == 2 << 20
        assert said == "gzip data that unpacks to more than 0.00195312 GiB; unpack it, and give the result"

    @pytest.mark.parametrize(
        ("inside", "said"), [(gzip.compress(b"a"), "gzip data"), (b"", "tar archive")], ids=["gzip", "tar"]
    )
    def test_what_it_unpacks_to_is_named(self, inside: bytes, said: str, tmp_path: Path) -> None:
        (tmp_path / "a.yaml.gz").write_bytes(gzip.compress(inside or b"a" * 257 + b"ustar\x00"))
        _, (fault,) = read(tmp_path / "a.yaml.gz")
        assert said in fault.got

    def test_the_exit_code(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "a.yaml.gz").write_bytes(gzip.compress(DUMP.read_bytes())[:900])
        assert run_command_line(["plan", "-f", str(tmp_path / "a.yaml.gz"), *NOW], "grove") == 1
        assert capsys.readouterr().err.startswith("1 problem in the input\n")

    @pytest.mark.parametrize("change", ["cut", "damage"])
    def test_an_audit_log(self, change: str, tmp_path: Path) -> None:
        data = bytearray((ROOT / "tests/reconstruction/recorded/audit.log.gz").read_bytes())
        if change == "cut":
            del data[len(data) // 2 :]
        else:
            data[len(data) // 2] ^= 0x55
        (tmp_path / "a.log.gz").write_bytes(data)
        flaws = AuditLogFaults()
        list(audited_writes((str(tmp_path / "a.log.gz"),), lambda _: True, flaws))
        assert "gzip data" in flaws.faults[-1].got

    def test_a_decision_log(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "whole.jsonl").write_bytes(b"".join(lines_of(LOG)))
        packed = gzip.compress((tmp_path / "whole.jsonl").read_bytes())
        (tmp_path / "packed.jsonl.gz").write_bytes(packed)
        (tmp_path / "cut.jsonl.gz").write_bytes(packed[: len(packed) // 2])
        pages = []
        for name in ("whole.jsonl", "packed.jsonl.gz"):
            assert run_command_line(["replay", str(tmp_path / name)], "grove") == 0
            pages.append(capsys.readouterr().out)
        assert pages[0] == pages[1]
        assert run_command_line(["replay", str(tmp_path / "cut.jsonl.gz")], "grove") == 1
        assert "gzip data that is cut short" in capsys.readouterr().err


@pytest.mark.req("IN-012")
def test_in085_yaml_without_an_event_is_not_read_for_ever(tmp_path: Path) -> None:
    text = 'a: "' + "x" * (3 * MAX_CHARACTERS)
    (tmp_path / "a.yaml.gz").write_bytes(gzip.compress(text.encode(), 1))
    items, (fault,) = read(tmp_path / "a.yaml.gz")
    assert items == []
    assert fault.got == "far more (reading stopped here)"
