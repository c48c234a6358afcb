"""Files, directories and standard input, as a user has them."""

import contextlib
import gc
import io
import os
import sys
from pathlib import Path
from typing import Final

import pytest

from grove_shell.cli.main import run_command_line
from grove_shell.python_gc import python_gc_paused
from grove_shell.reading.input_faults import InputFault
from grove_shell.reading.input_sources import InputItem, input_items_in_path

NEEDS_LINKS: Final = pytest.mark.skipif(sys.platform == "win32", reason="symbolic links")
NOTHING: Final = io.BytesIO()


@pytest.mark.req("IN-014")
class TestKnownFormats:
    """A table of ``kubectl get`` and a saved plan are named."""

    @pytest.mark.parametrize("name", ["f", "f.yaml", "f.json"])
    @pytest.mark.parametrize("head", ["NAME   AGE", "NAMESPACE   NAME   AGE", "NAME            READY   STATUS"])
    def test_a_table(self, name: str, head: str, tmp_path: Path) -> None:
        (tmp_path / name).write_text(f"{head}\nqwen   4d\n", encoding="utf-8")
        items, (fault,) = read(tmp_path / name)
        assert items == []
        assert str(fault).endswith("expected objects in JSON or YAML, got kubectl's table; use -o json")

    @pytest.mark.parametrize("command", ["plan", "validate"])
    def test_a_saved_plan(self, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        example, saved = (
            str(Path(__file__).parents[2] / "examples/manifests/disaggregated.yaml"),
            tmp_path / "plan.json",
        )
        assert run_command_line(["plan", "-f", example, "--out", str(saved)], "grove") == 0
        assert run_command_line([command, "-f", str(saved)], "grove") == 1
        said = capsys.readouterr().err.splitlines()
        assert said[:2] == ["1 problem in the input", f"  {saved}: document 1: a saved plan is for grove apply"]


def read(path: Path | str, stdin: bytes = b"") -> tuple[list[InputItem], list[InputFault]]:
    faults: list[InputFault] = []
    return list(input_items_in_path(str(path), faults, io.BytesIO(stdin))), faults


def names(path: Path | str) -> list[str]:
    items, faults = read(path)
    assert not faults, [str(fault) for fault in faults]
    return [item.value["id"] for item in items]


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.json", '{"a" 1}', "JSON"),
        ("a.yaml", '{"a" 1}', "JSON"),
        ("a.yaml", '\ufeff \n{\n "a" 1}', "JSON"),
        ("a.yaml", '[ {"a" 1}]', "JSON"),
        ("a", '[{} {"a" 1}]', "JSON"),
        ("a.json", "a: b: c", "JSON"),
        ("a.yaml", "{a: 1, b: ]", "YAML"),
        ("a.yml", "--- {a: ]", "YAML"),
        ("a.yaml", "[[1, 2}", "YAML"),
    ],
)
def test_in016_json_or_yaml(tmp_path: Path, name: str, text: str, line: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    _, faults = read(tmp_path / name)
    assert faults
    is_yaml = any("YAML" in fault.expected for fault in faults)
    assert is_yaml == (line == "YAML")


@pytest.mark.parametrize(
    "text", ["{ id: a }", '{\n  id: "a",\n}\n', "---\nid: a\n", "[{id: a}]", '{"id": "a"}', "{id: a}\n---\n"]
)
def test_in016_flow_yaml_and_kyaml(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8")
    assert names(tmp_path / "a.yaml") == ["a"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00", "PNG"),
        (b"\x1f\x8b\x08\x00\x00", "gzip"),
        (b"PK\x03\x04", "zip"),
        (b"\x7fELF\x02\x01", "program"),
        (b"a: 1\nb: \x00\x01\x02", "binary"),
        (b"\x00\x00\x00\x01", "binary"),
    ],
)
@pytest.mark.parametrize("suffix", ["yaml", "json"])
def test_in014_binary_files(tmp_path: Path, data: bytes, said: str, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(data)
    items, faults = read(path)
    assert not items
    assert [said in fault.got for fault in faults] == [True]


def test_in014_a_nul_far_behind(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'{"id":"a"}\n' * 20_000 + b'{"id":"\x00"}')
    items, faults = read(path)
    assert len(items) == 20_000
    assert [(fault.line, fault.column, fault.got) for fault in faults] == [(20_001, 8, "a NUL byte")]


@pytest.mark.req("IN-014")
class TestFilesThatHoldNoObjects:
    """A file that is not UTF-8 text, and a table of ``kubectl get`` or a saved plan, MUST be one fault that
    names what it is, and for text the line at which reading stops.
    """

    def test_a_byte_order_mark(self, tmp_path: Path) -> None:
        for name in ("a.yaml", "b.json"):
            (tmp_path / name).write_bytes(b'\xef\xbb\xbf{"id": "a"}')
        assert names(tmp_path) == ["a", "a"]

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
    @pytest.mark.parametrize("name", ["a.yaml", "a.json"])
    def test_utf16_is_named(self, tmp_path: Path, encoding: str, name: str) -> None:
        (tmp_path / name).write_bytes('{"id": "a"}'.encode(encoding))
        _, faults = read(tmp_path / name)
        assert ["UTF-16" in fault.got for fault in faults] == [True]

    @pytest.mark.parametrize("bad", [b"\xff", b"\xc3(", b"\xe2\x98", b"\xed\xa0\x80"])
    def test_the_place_of_a_bad_byte(self, tmp_path: Path, bad: bytes) -> None:
        path = tmp_path / "a.yaml"
        path.write_bytes("id: a\n---\nid: ☃".encode() + bad + b"\n")
        items, faults = read(path)
        assert [item.value for item in items] == [{"id": "a"}]
        assert [(fault.line, fault.column) for fault in faults] == [(3, 6)]

    def test_characters_across_chunks(self, tmp_path: Path) -> None:
        path = tmp_path / "a.json"
        path.write_text('{"id":"' + "☃" * 500_000 + '"}', encoding="utf-8")
        assert names(path) == ["☃" * 500_000]


class TestIN026:
    """A directory MUST be read as its ``*.yaml``, ``*.yml`` and ``*.json`` files by name, also with ``.gz`` behind it,
    each once, including subdirectories and links. ``-`` is standard input. Other files are skipped, but those named
    like a copy of a manifest, and unreadable paths, are faults.
    """

    def test_in_order_and_below(self, tmp_path: Path) -> None:
        for name in ("b.yaml", "a.yml", "c/d/e.json", "c.yaml", "c/a.yaml"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(f'{{"id": "{name}"}}', encoding="utf-8")
        assert names(tmp_path) == ["a.yml", "b.yaml", "c/a.yaml", "c/d/e.json", "c.yaml"]

    def test_hidden_names_are_passed_over(self, tmp_path: Path) -> None:
        for name in (".git/config.yaml", ".a.yaml", "a.yaml"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(f"id: {name}", encoding="utf-8")
        assert names(tmp_path) == ["a.yaml"]

    @pytest.mark.parametrize("name", ["README.md", "yaml", "Makefile", "shot.png", "list.jsonl", "values.yamlish"])
    def test_other_files_are_skipped(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "a.yaml").write_text("id: a", encoding="utf-8")
        (tmp_path / name).write_text("id: [", encoding="utf-8")
        items, faults = read(tmp_path)
        assert ([item.value for item in items], faults) == ([{"id": "a"}], [])

    @pytest.mark.parametrize("name", ["pods.yaml.bak", "a.YAML", "a.yml~", "pods.json.bz2", "pods.json.gz.bak"])
    def test_files_named_like_a_copy_of_a_manifest_are_faults(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "a.yaml").write_text("id: a", encoding="utf-8")
        (tmp_path / name).write_text("id: b", encoding="utf-8")
        items, faults = read(tmp_path)
        assert [item.value for item in items] == [{"id": "a"}]
        assert [(fault.file, fault.got) for fault in faults] == [(str(tmp_path / name), name)]

    def test_a_directory_without_files(self, tmp_path: Path) -> None:
        (tmp_path / "a" / "b").mkdir(parents=True)
        assert [fault.file for fault in read(tmp_path)[1]] == [str(tmp_path)]

    def test_one_broken_file_hides_no_other(self, tmp_path: Path) -> None:
        for name, text in (("a.yaml", "id: ["), ("b.json", "{"), ("c.yaml", "id: c"), ("d.yaml", "")):
            (tmp_path / name).write_text(text, encoding="utf-8")
        items, faults = read(tmp_path)
        assert [item.file for item in items] == [str(tmp_path / "c.yaml")]
        assert [Path(fault.file).name for fault in faults] == ["a.yaml", "b.json", "d.yaml"]

    def test_a_name_that_is_no_text(self, tmp_path: Path) -> None:
        try:
            (tmp_path / os.fsdecode(b"\xff\x1b[31m.txt")).write_text("id: a", encoding="utf-8")
        except OSError:
            pytest.skip("the file system takes only UTF-8")
        (fault,) = read(tmp_path)[1]
        assert str(fault).isprintable()
        assert str(fault).encode()


@pytest.mark.req("IN-026")
class TestLinks:
    """Links are followed, into each directory once."""

    @NEEDS_LINKS
    def test_loops(self, tmp_path: Path) -> None:
        (tmp_path / "a.yaml").write_text("id: a", encoding="utf-8")
        (tmp_path / "below").mkdir()
        (tmp_path / "below" / "b.yaml").write_text("id: b", encoding="utf-8")
        (tmp_path / "below" / "up").symlink_to(tmp_path, target_is_directory=True)
        (tmp_path / "twice").symlink_to(tmp_path / "below", target_is_directory=True)
        assert names(tmp_path) == ["a", "b"]

    @NEEDS_LINKS
    def test_a_mounted_config_map(self, tmp_path: Path) -> None:
        (tmp_path / "..2026").mkdir()
        (tmp_path / "..2026" / "a.yaml").write_text("id: a", encoding="utf-8")
        (tmp_path / "..data").symlink_to("..2026", target_is_directory=True)
        (tmp_path / "a.yaml").symlink_to("..data/a.yaml")
        assert names(tmp_path) == ["a"]

    @NEEDS_LINKS
    def test_links_to_nowhere(self, tmp_path: Path) -> None:
        (tmp_path / "a.yaml").symlink_to("a.yaml")
        (tmp_path / "b.yaml").symlink_to("nowhere")
        (tmp_path / "c").symlink_to("nowhere")
        assert [Path(fault.file).name for fault in read(tmp_path)[1]] == ["a.yaml", "b.yaml", "c"]

    def test_very_deep(self, tmp_path: Path) -> None:
        below = tmp_path.joinpath(*"d" * 300)
        below.mkdir(parents=True)
        (below / "a.yaml").write_text("id: a", encoding="utf-8")
        assert names(tmp_path) == ["a"]


@pytest.mark.req("IN-026")
class TestUnreadablePaths:
    """Standard input, and paths that cannot be read."""

    def test_standard_input(self) -> None:
        items, faults = read("-", b"id: a\n---\nid: [")
        assert [(item.file, item.value) for item in items] == [("stdin", {"id": "a"})]
        assert [fault.file for fault in faults] == ["stdin"]

    def test_standard_input_stays_open(self) -> None:
        stdin = io.BytesIO(b"id: a")
        assert len(list(input_items_in_path("-", [], stdin))) == 1
        assert not stdin.closed

    def test_standard_input_that_is_closed(self) -> None:
        stdin = io.BytesIO()
        stdin.close()
        faults: list[InputFault] = []
        assert not list(input_items_in_path("-", faults, stdin))
        assert len(faults) == 1

    @pytest.mark.parametrize("path", ["nowhere.yaml", "nowhere/", "a\0b", "", "x" * 5000, "a.yaml/b"])
    def test_paths_that_lead_nowhere(self, tmp_path: Path, path: str) -> None:
        (tmp_path / "a.yaml").write_text("id: a", encoding="utf-8")
        items, faults = read(f"{tmp_path / 'sub'}/{path}" if path else "")
        assert not items
        assert len(faults) == 1
        assert str(faults[0]).isprintable()

    @pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() == 0, reason="root may read everything")
    def test_without_permission(self, tmp_path: Path) -> None:
        (tmp_path / "a.yaml").write_text("id: a", encoding="utf-8")
        (tmp_path / "a.yaml").chmod(0)
        assert len(read(tmp_path / "a.yaml")[1]) == 1

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes")
    def test_a_pipe(self, tmp_path: Path) -> None:
        reader, writer = os.pipe()
        os.write(writer, b"id: a\n")
        os.close(writer)
        try:
            assert names(f"/dev/fd/{reader}") == ["a"]
        finally:
            os.close(reader)


@pytest.mark.req("IN-012")
class TestMemoryIsBounded:
    """Reading MUST keep no more in memory than the current object and a few chunks of the text, whatever
    the size of the file.
    """

    @pytest.mark.parametrize("on", [True, False])
    def test_the_collector_comes_back_as_it_was(self, on: bool) -> None:
        was_on = gc.isenabled()
        try:
            (gc.enable if on else gc.disable)()
            with contextlib.suppress(KeyError), python_gc_paused():
                assert not gc.isenabled()
                raise KeyError
            assert gc.isenabled() == on
        finally:
            (gc.enable if was_on else gc.disable)()

    def test_objects_come_before_the_text_ends(self) -> None:
        class Endless(io.RawIOBase):
            """A list without an end."""

            def read(self, size: int = -1) -> bytes:
                return (b"- id: a\n" * (size // 8 + 1))[:size] if size % 8 == 0 else b"- id: a\n" * (size // 8)

        faults: list[InputFault] = []
        items = input_items_in_path("-", faults, Endless())  # type: ignore[arg-type]  # a stream that can only read
        assert [next(items).index for _ in range(1000)] == list(range(1000))
        assert not faults
