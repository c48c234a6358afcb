"""JSON through the standard library's scanner: shapes, flaws, places, and windows of any size."""

import io
import json
import tracemalloc
from typing import Any, BinaryIO, Final, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_shell.reading.input_faults import InputFault
from grove_shell.reading.input_items import MAX_CHARACTERS, InputItem
from grove_shell.reading.json_input_items import input_items_from_json
from grove_shell.reading.utf8_stream import Utf8Stream
from grove_shell.reading.yaml_input_items import input_items_from_yaml

SIZES: Final = pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13, 100, 1 << 20])
POD: Final = {
    "kind": "Pod",
    "apiVersion": "v1",
    "metadata": {"name": "p", "namespace": "ml", "uid": "u-1"},
    "spec": {"a": [1, {"b": 2}]},
}


def read(text: str | bytes, size: int = 1 << 20) -> tuple[list[InputItem], list[InputFault]]:
    faults: list[InputFault] = []
    data = text.encode() if isinstance(text, str) else text
    return list(input_items_from_json(Utf8Stream(io.BytesIO(data), size), "f.json", faults)), faults


def values(text: str, size: int = 1 << 20) -> list[Any]:
    items, faults = read(text, size)
    assert not faults, [str(fault) for fault in faults]
    return [item.value for item in items]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.0", 1),
        ("1e3", 1000),
        ("-0.0", 0),
        ("1.5", 1.5),
        ("1e22", 1e22),
        ("12345678901234567890", 12345678901234567890),
    ],
)
def test_in001_numbers_as_in_yaml(text: str, value: float) -> None:
    (found,) = values(f'{{"a": {text}}}')[0].values()
    assert (found, type(found)) == (value, type(value))


class TestIN006:
    """A repeated key, an infinite number, not-a-number and half a surrogate pair MUST be faults of their object, with
    their place. Only a Pod, PodClique, PodCliqueScalingGroup or PodGang that an API server wrote, and that begins like
    the object before it in a list, is not searched for them.
    """

    @SIZES
    @pytest.mark.parametrize(
        ("text", "line", "column", "where", "path"),
        [
            ('{"a":1,\n "a":2}', 2, 2, "", "a"),
            ('[{"b":1},\n{"kind":"A","metadata":{"name":"n"},"s":{"c":[{},{"x":1,"x":2}]}}]', 2, 57, "A n", "s.c[1].x"),
            ('{"kind":"List","items":[{"a":1,"\\u0061":2}]}', 1, 32, "items[0]", "a"),
            ('{"kind":"List","kind":"List","items":[]}', 1, 16, "", "kind"),
            ('{"kind":"A","metadata":{"name":"n","name":"m"},"x":{"items":[]}}', 1, 36, "A m", "metadata.name"),
        ],
    )
    def test_the_second_key_is_named(self, text: str, line: int, column: int, where: str, path: str, size: int) -> None:
        items, faults = read(text, size)
        assert [item.value for item in items] == ([{"b": 1}] if text.startswith("[") else [])
        assert [(fault.line, fault.column, fault.path) for fault in faults] == [(line, column, path)]
        assert faults[0].object in {where, ""}

    def test_every_one_of_them(self) -> None:
        _, faults = read('{"a":1,"a":2,"b":{"c":1,"c":2,"c":3}}')
        assert [fault.path for fault in faults] == ["a", "b.c", "b.c"]

    @given(st.lists(st.sampled_from("abcdef"), max_size=6), st.integers(1, 30))
    def test_exactly_where_there_are_two(self, keys: list[str], size: int) -> None:
        pairs = ",".join(f'"{key}":[{{"{key}":"\\"{key}\\":"}}]' for key in keys)
        items, faults = read(f"{{{pairs}}}", size)
        assert len(faults) == len(keys) - len(set(keys))
        assert bool(items) != bool(faults)


@SIZES
@pytest.mark.parametrize("number", ["1.5", "-12.25e+1", "1E-3", "100000000.203125", "0"])
def test_in001_numbers_are_not_cut(number: str, size: int) -> None:
    value = json.loads(number)
    assert values(f'{{"kind":{number}}} {{"a":[{number},{number}]}}', size) == [{"kind": value}, {"a": [value, value]}]
    assert [fault.got for fault in read(f"[{number},{number}]", size)[1]] == [str(value)] * 2


@SIZES
@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * 5000])
def test_in006_numbers_are_finite(word: str, size: int) -> None:
    items, faults = read(f'[{{"a":[0,{word}]}},{{"b":1}}]', size)
    assert [item.value for item in items] == [{"b": 1}]
    assert [(fault.column, fault.object, fault.path) for fault in faults] == [(10, "items[0]", "a[1]")]


LEAVES: Final = st.none() | st.booleans() | st.integers() | st.floats(-1e9, 1e9) | st.text(max_size=6)
TREES: Final = st.recursive(
    LEAVES, lambda kids: st.lists(kids, max_size=4) | st.dictionaries(st.text(max_size=4), kids, max_size=4)
)
OBJECTS: Final = st.dictionaries(st.text(max_size=4).filter(lambda key: key != "items"), TREES, max_size=4)


class TestIN016:
    """A text named ``*.json``, or beginning like a JSON object or array, MUST be read as JSON values, one after the
    other. Any other text is read as YAML. JSON, YAML and both parsers of YAML give the same objects.
    """

    @given(st.lists(OBJECTS, max_size=5), st.integers(1, 60), st.sampled_from([None, 1, 4]), st.booleans())
    def test_a_list_comes_back(self, objects: list[dict[str, Any]], size: int, indent: int | None, wide: bool) -> None:
        root = {"apiVersion": "v1", "items": objects, "kind": "List", "metadata": {"resourceVersion": ""}}
        assert values(json.dumps(root, indent=indent, ensure_ascii=wide), size) == objects

    @given(st.lists(OBJECTS, min_size=1, max_size=4), st.integers(1, 60), st.sampled_from(["", " ", "\n", "\n---\n"]))
    def test_documents_come_back(self, objects: list[dict[str, Any]], size: int, between: str) -> None:
        assert values(between.join(map(json.dumps, objects)), size) == objects

    @given(st.lists(st.dictionaries(st.sampled_from("abc"), st.integers() | st.floats(-9, 9)), min_size=1, max_size=3))
    def test_json_and_yaml_agree(self, objects: list[dict[str, Any]]) -> None:
        text = json.dumps({"kind": "List", "items": objects})
        faults: list[InputFault] = []
        small = [value for value in objects if all(abs(number) < 2**63 for number in value.values())]
        items = [item.value for item in input_items_from_yaml(Utf8Stream(io.BytesIO(text.encode())), "f", faults)]
        if small == objects:
            assert (items, faults) == (values(text), [])


class TestIN012:
    """An object MUST be a fault if it is nested deeper than 256 levels, longer than 16 MiB, has more than a million
    YAML values, or is expanded too far or into itself by aliases. Memory holds no more than the current object and a
    few chunks of text.
    """

    @SIZES
    def test_the_limit(self, size: int) -> None:
        def nested(depth: int) -> str:
            return '[{"a":' + "[" * (depth - 1) + "]" * (depth - 1) + '},{"b":1}]'

        assert len(values(nested(256), size)) == 2
        items, faults = read(nested(257), size)
        assert [item.value for item in items] == [{"b": 1}]
        assert [fault.object for fault in faults] == ["items[0]"]

    @SIZES
    def test_a_document_counts_like_an_element(self, size: int) -> None:
        assert len(values('{"a":' + "[" * 255 + "]" * 255 + "}", size)) == 1
        assert len(read('{"a":' + "[" * 256 + "]" * 256 + "}", size)[1]) == 1

    def test_deeper_than_python_goes(self) -> None:
        items, faults = read('{"a":' * 50_000 + "1" + "}" * 50_000 + '{"b":1}')
        assert [item.value for item in items] == [{"b": 1}]
        assert len(faults) == 1

    @pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, '[{"a":' * 100_000])
    def test_without_an_end(self, text: str) -> None:
        items, faults = read(text)
        assert not items
        assert faults


@pytest.mark.parametrize("more", [1, 3_000_000, 40_000_000])
def test_in012_size(more: int) -> None:
    pod = json.dumps({**POD, "x": "y" * 40_000})
    text = f'{{"kind":"List","items":[{pod},{{"a":"{"x" * (MAX_CHARACTERS + more)}"}}]}}'
    items, faults = read(text)
    assert len(items) == 1
    assert [fault.object for fault in faults] == ["items[1]"]
    assert "characters" in faults[0].expected


class TestIN014:
    """A syntax error, a forbidden character, text that is not UTF-8, a table of ``kubectl get`` and a saved plan MUST
    each end their file with one fault that names the problem and its line. Any other error makes only its own object
    unreadable, with every error reported.
    """

    @SIZES
    @pytest.mark.parametrize(
        ("text", "line", "column", "where"),
        [
            ('[{"a":1},\n{"b" 1}]', 2, 6, "items[1]"),
            ('[{"a":1},\n{"b":tru}]', 2, 6, "items[1]"),
            ('[{"a":1}\n {"b":1}]', 2, 2, "items[0]"),
            ('[{"a":1},]', 1, 10, "items[1]"),
            ('[{"a":1}', 1, 9, "items[0]"),
            ('[{"a":1},\n{"b":"\t"}]', 2, 7, "items[1]"),
            ('{"items":[{"a":1}]\n"kind":"List"}', 2, 1, ""),
            ('{"items":[{"a":1}],\n kind:"List"}', 2, 2, ""),
            ('{"a":1}\n}', 2, 1, ""),
            ('{"a":1}\nx', 2, 1, ""),
        ],
    )
    def test_the_place_and_what_stood_before(self, text: str, line: int, column: int, where: str, size: int) -> None:
        items, faults = read(text, size)
        assert [item.value for item in items] == [{"a": 1}]
        assert [(fault.line, fault.column, fault.object) for fault in faults] == [(line, column, where)]

    @SIZES
    def test_a_text_that_is_not_utf8(self, size: int) -> None:
        items, faults = read(b'{"a":1}\n{"b":"\xe2\x98\x83\xff"}', size)
        assert [item.value for item in items] == [{"a": 1}]
        assert [(fault.line, fault.column) for fault in faults] == [(2, 8)]

    @SIZES
    def test_the_line_far_behind_the_beginning(self, size: int) -> None:
        _, faults = read('{"kind":"List",\n"items":[\n' + '{"a":1},\n' * 300 + '{"a" 1}]}', size)
        assert [(fault.line, fault.column, fault.object) for fault in faults] == [(303, 6, "items[300]")]

    def test_an_error_far_from_the_end_is_not_read_past(self) -> None:
        class Endless(io.RawIOBase):
            """One broken object, and blanks for ever."""

            def __init__(self) -> None:
                self.sent = 0

            def read(self, size: int = -1) -> bytes:
                self.sent += 1
                assert self.sent < 100, "read past the error"
                return b'{"a" 1}'.ljust(size)

        (fault,) = [*_faults_of(cast("BinaryIO", Endless()))]
        assert (fault.line, fault.column) == (1, 6)


def _faults_of(raw: BinaryIO) -> list[InputFault]:
    faults: list[InputFault] = []
    assert not list(input_items_from_json(Utf8Stream(raw), "f", faults))
    return faults


@SIZES
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a":1}{"b":2}', [(1, -1, {"a": 1}), (2, -1, {"b": 2})]),
        ('{"a":1}\n{"b":2}\n', [(1, -1, {"a": 1}), (2, -1, {"b": 2})]),
        ('[{"a":1},{"b":2}]', [(1, 0, {"a": 1}), (1, 1, {"b": 2})]),
        ('[ {"a":1} , {"b":2} ] [{}]', [(1, 0, {"a": 1}), (1, 1, {"b": 2}), (2, 0, {})]),
        ('null {"a":1} null', [(2, -1, {"a": 1})]),
        ('{"a":1}\n---\n{"kind":"List","items":[{"b":2}]}', [(1, -1, {"a": 1}), (2, 0, {"b": 2})]),
        ("{ }", [(1, -1, {})]),
    ],
)
def test_in016_shapes(text: str, expected: list[tuple[int, int, object]], size: int) -> None:
    items, faults = read(text, size)
    assert [(item.document, item.index, item.value) for item in items] == expected
    assert not faults


@pytest.mark.req("IN-006")
class TestTrustedPods:
    """Pods that an API server wrote are not searched for repeated keys."""

    def test_pods_printed_like_the_one_before_are_taken_as_they_are(self) -> None:
        twice = json.dumps(POD).replace('"name": "p"', '"name": "o", "name": "p"')
        text = f'{{"items": [{", ".join([json.dumps(POD), json.dumps(POD), twice, json.dumps(POD)])}], "kind": "List"}}'
        assert values(text) == [POD, POD, POD, POD]

    def test_the_first_pod_and_the_last_one_are_searched_and_so_is_one_that_begins_in_its_own_way(self) -> None:
        other = json.dumps({"x": 1, **POD})
        sound = json.dumps(POD) + ", "
        for before, pod in (("", json.dumps(POD)), (sound * 3, json.dumps(POD)), (sound, other)):
            twice = pod.replace('"b": 2', '"b": 1, "b": 2')
            text = f'{{"kind": "List", "items": [{before}{twice}]}}'
            assert [fault.path for fault in read(text)[1]] == ["spec.a[1].b"]

    def test_what_only_begins_like_a_pod_is_searched(self) -> None:
        twice = json.dumps(POD)[:-1] + ', "kind": "PodClique"}'
        assert [fault.path for fault in read(f"[{json.dumps(POD)}, {twice}]")[1]] == ["kind"]

    @pytest.mark.parametrize("change", [{"kind": "PodClique"}, {"metadata": {"name": "p"}}, {"metadata": None}])
    def test_all_else_is_searched(self, change: dict[str, Any]) -> None:
        text = json.dumps({"kind": "List", "items": [{**POD, **change}]}).replace('"b": 2', '"b": 1, "b": 2')
        assert [fault.path for fault in read(text)[1]] == ["spec.a[1].b"]

    def test_numbers_and_half_characters_are_searched_in_pods_too(self) -> None:
        for bad in ("NaN", '"\\ud800"'):
            text = json.dumps({"kind": "List", "items": [POD]}).replace('"b": 2', f'"b": {bad}')
            assert [fault.path for fault in read(text)[1]] == ["spec.a[1].b"]


@SIZES
@pytest.mark.parametrize(("text", "sound"), [("\\ud83d\\ude00", True), ("\\ud83d", False), ("\\uDE00x", False)])
def test_in006_pairs_are_whole(text: str, sound: bool, size: int) -> None:
    for document in (f'[{{"a":"{text}"}}]', f'[{{"{text}":1}}]'):
        items, faults = read(document, size)
        assert (len(items), len(faults)) == ((1, 0) if sound else (0, 1))
        json.dumps([item.value for item in items], ensure_ascii=False).encode()


@SIZES
@pytest.mark.parametrize("order", [("items", "kind"), ("kind", "items")])
def test_in020_lists_in_any_order(order: tuple[str, str], size: int) -> None:
    parts = {"items": [{"a": 1}, POD], "kind": "List", "metadata": {"x": [1]}}
    assert values(json.dumps({key: parts[key] for key in (*order, "metadata")}), size) == parts["items"]


@SIZES
@pytest.mark.parametrize(
    ("text", "count", "path"),
    [
        ('{"items":[{"a":1}],"kind":"Foo"}', 1, "kind"),
        ('{"items":[]}', 0, "kind"),
        ('{"items":{},"kind":"List"}', 0, "items"),
        ('{"kind":"List","items":[{"a":1}],"items":[{"b":1}]}', 1, "items"),
    ],
)
def test_in020_a_list_says_that_it_is_one(text: str, count: int, path: str, size: int) -> None:
    items, faults = read(text, size)
    assert len(items) == count
    assert [fault.path for fault in faults] == [path]


@SIZES
@pytest.mark.parametrize(
    ("text", "wheres"), [("5", [""]), ('"x"', [""]), ('[1,"x",[2],null,true]', [f"items[{i}]" for i in range(5)])]
)
def test_in020_what_is_no_object(text: str, wheres: list[str], size: int) -> None:
    items, faults = read(text, size)
    assert not items
    assert [fault.object for fault in faults] == wheres


@SIZES
def test_in020_lists_in_lists(size: int) -> None:
    inner = {"kind": "PodList", "items": [{"a": 1}, 7, {"kind": "List", "items": [{"b": 1}]}]}
    items, faults = read(json.dumps({"kind": "List", "items": [inner]}), size)
    assert [item.value for item in items] == [{"a": 1}, {"b": 1}]
    assert [fault.object for fault in faults] == ["items[0].items[1]"]


UNTYPED: Final[list[Any]] = [{"metadata": {"name": "a"}}, {"metadata": {"name": "b"}, "kind": "Pod"}, 7]


@SIZES
@pytest.mark.parametrize("nested", [False, True])
def test_in090_items_of_a_typed_list(size: int, *, nested: bool) -> None:
    typed = {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": UNTYPED}
    items, faults = read(json.dumps([typed] if nested else typed), size)
    assert [item.value for item in items] == [{"apiVersion": "v1", "kind": "Pod", **UNTYPED[0]}, UNTYPED[1]]
    assert [fault.object for fault in faults] == ["items[0].items[2]" if nested else "items[2]"]
    text = Utf8Stream(io.BytesIO(json.dumps(typed).encode()))
    assert [item.value for item in input_items_from_yaml(text, "f.yaml", [])] == [item.value for item in items]


@pytest.mark.parametrize(
    "fields", [{"kind": "List", "apiVersion": "v1"}, {"kind": "PodList"}, {"kind": "PodList", "apiVersion": 1}]
)
def test_in090_a_list_without_a_type_gives_none(fields: dict[str, Any]) -> None:
    (item,), _ = read(json.dumps({**fields, "items": UNTYPED[:1]}))
    assert item.value == UNTYPED[0]


@pytest.mark.parametrize("text", ["", " \n", "null", "null null", "---", "\ufeff"])
def test_in020_a_file_of_nothing(text: str) -> None:
    items, faults = read(text)
    assert not items
    assert [(fault.document, fault.expected) for fault in faults] == [(0, "at least one object")]


@pytest.mark.parametrize("text", ['{"kind":"List","items":[]}', '{"items":null,"kind":"PodList"}', "[]"])
def test_in020_an_empty_list_is_content(text: str) -> None:
    assert read(text) == ([], [])


def test_in012_memory_does_not_grow_with_the_list() -> None:
    def peak(count: int) -> int:  # twenty megabytes, if objects were kept
        data = io.BytesIO(json.dumps({"kind": "List", "items": [POD] * count}).encode())
        tracemalloc.start()
        assert sum(1 for _ in input_items_from_json(Utf8Stream(data, 4096), "f", [])) == count
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    assert peak(20_000) < 2_000_000
