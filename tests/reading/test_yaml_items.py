"""Documents, lists and faults of YAML: what is found, and where (IN-001 to IN-012)."""

import io
import json
import tracemalloc
from typing import Any, Final

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from grove_shell.reading.input_items import MAX_CHARACTERS, MAX_NODES
from grove_shell.reading.utf8_stream import Utf8Stream
from grove_shell.reading.yaml_input_items import input_items_from_yaml
from tests.reading.yaml_text import BOTH, places, read, values


class TestIN001:
    """Plain YAML scalars, tags, keys and merge keys MUST become the JSON that kubectl's YAML layer makes of them:
    ``no`` becomes false, ``0777`` is octal, ``2.0`` becomes the integer 2, a date becomes a text, and so does every
    key.
    """

    @pytest.mark.parametrize("word", ["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"])
    def test_true(self, word: str) -> None:
        assert values(f"a: {word}") == [{"a": True}]

    @pytest.mark.parametrize("word", ["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"])
    def test_false(self, word: str) -> None:
        assert values(f"a: {word}") == [{"a": False}]

    @pytest.mark.parametrize("word", ["~", "null", "Null", "NULL", ""])
    def test_null(self, word: str) -> None:
        assert values(f"a: {word}") == [{"a": None}]

    @pytest.mark.parametrize("word", ["yEs", "tRue", "nULL", "'yes'", '"null"', "!!str no", "inf", "nan", "=", "x"])
    def test_text(self, word: str) -> None:
        (value,) = values(f"a: {word}")[0].values()
        assert value == word.removeprefix("!!str ").strip("'\"")
        assert type(value) is str


@BOTH
@pytest.mark.parametrize("text", ["items:\n\t- a: b\n", "metadata:\n  name: x\n\tnamespace: y\n"])
def test_in030_a_tab_is_named(text: str, *, pure: bool) -> None:
    (fault,) = read(text, pure=pure)[1]
    assert "a tab for indentation, where YAML allows only spaces" in str(fault)


def test_in030_a_fault_is_one_printable_line() -> None:
    (fault,) = read('kind: A\nmetadata: {name: x, namespace: ml}\n"\\e[31m\\n": .nan\n')[1]
    assert (fault.file, fault.document, fault.line, fault.object) == ("f.yaml", 1, 3, "A ml/x")
    assert str(fault).isprintable()
    assert str(fault).startswith("f.yaml:3:")


@given(st.lists(st.sampled_from(["a: .nan", "b: {c: 1, c: 2}", "- 1", "", "d: *e"]), max_size=6))
def test_in030_the_order_of_faults_is_their_place(documents: list[str]) -> None:
    _, faults = read("".join(f"---\n{document}\n" for document in documents) or "---")
    assert sorted(faults, key=lambda fault: fault.sort_key) == faults


@pytest.mark.req("IN-006")
class TestDuplicateKeys:
    @BOTH
    @pytest.mark.parametrize(
        ("text", "line", "column", "path"),
        [
            ("a: 1\nb: 2\na: 3\n", 3, 1, "a"),
            ("s:\n  c:\n  - x: 1\n  - x: 1\n    x: 2\n", 5, 5, "s.c[1].x"),
            ("{a: 1, a: 2}", 1, 8, "a"),
            ("1: a\n'1': b\n", 2, 1, "1"),
            ("yes: a\ntrue: b\n", 2, 1, "true"),
            ("z: {<<: {a: 1}, a: 2, a: 3}", 1, 23, "z.a"),
            ("z: {a: 2, <<: {a: 1}, a: 3}", 1, 23, "z.a"),
        ],
    )
    def test_the_second_key_is_named(self, text: str, line: int, column: int, path: str, pure: bool) -> None:
        items, faults = read(text, pure=pure)
        assert not items
        assert [(fault.line, fault.column, fault.path) for fault in faults] == [(line, column, path)]

    def test_every_one_of_them(self) -> None:
        assert [path for *_, path in places("a: 1\na: 2\nb: {c: 1, c: 2, c: 3}\n")] == ["a", "b.c", "b.c"]


# Plain words whose meaning kubectl and PyYAML share, quoted text, and collections of both.
# PyYAML's writer leaves out the quotes where its own reader needs none, as for `y` and `1e3`: no text to kubectl.
WORDS: Final = st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]) | st.just("\n"), max_size=8).filter(
    lambda word: word not in ("y", "Y", "n", "N") and word[:1] not in tuple("+-.0123456789")
)
SHARED: Final = st.none() | st.booleans() | st.integers(-(2**31), 2**31) | WORDS
TREES: Final = st.recursive(SHARED, lambda kids: st.lists(kids, max_size=4) | st.dictionaries(WORDS, kids, max_size=4))
OBJECTS: Final = st.dictionaries(WORDS.filter(lambda key: key != "items"), TREES, max_size=5)


@BOTH
@given(st.lists(OBJECTS, min_size=1, max_size=3), st.booleans(), st.sampled_from([None, True, False]))
def test_in016_documents_come_back(pure: bool, objects: list[dict[str, Any]], wide: bool, flow: bool | None) -> None:
    text = yaml.safe_dump_all(objects, default_flow_style=flow, allow_unicode=wide, explicit_start=True)
    assert values(text, pure=pure) == objects == list(yaml.load_all(text, yaml.CSafeLoader))


@given(OBJECTS, st.integers(1, 40))
def test_in016_chunks_do_not_matter(value: dict[str, Any], size: int) -> None:
    text = json.dumps(value, ensure_ascii=False)
    items, faults = read(text, chunk_size=size)
    assert ([item.value for item in items], faults) == ([value], [])


@pytest.mark.req("IN-001")
class TestMergeKeys:
    """A merge key inserts entries at its position."""

    @BOTH
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("<<: {a: 1}\nb: 2", {"a": 1, "b": 2}),
            ("q: {<<: {a: 1}, a: 2}", {"q": {"a": 2}}),
            ("q: {a: 2, <<: {a: 1}}", {"q": {"a": 1}}),
            ("q: {<<: [{a: 1}, {a: 2, c: 3}]}", {"q": {"a": 1, "c": 3}}),
            ("q: {<<: {a: 1}, b: 1, <<: {a: 2}}", {"q": {"a": 2, "b": 1}}),
            ("q: {<<: {b: 1, <<: {b: 2, c: 3}}}", {"q": {"b": 2, "c": 3}}),
            ("<<: {a: 1}\nb: {<<: {c: 1}, c: 2}\na: 3", {"a": 3, "b": {"c": 2}}),
            ("q: {<<: {a: 1}, b: {<<: {c: 1}, c: 2}, a: 3}", {"q": {"a": 3, "b": {"c": 2}}}),
            ("q: {!!merge <<: {a: 1}}", {"q": {"a": 1}}),
            ("q: {'<<': {a: 1}}", {"q": {"<<": {"a": 1}}}),
            ("q: {!!str <<: 1}", {"q": {"<<": 1}}),
            ("q: [<<]", {"q": ["<<"]}),
        ],
    )
    def test_by_position(self, text: str, value: object, pure: bool) -> None:
        assert values(text, pure=pure) == [value]

    @pytest.mark.parametrize("text", ["{<<: 1}", "{<<: ~}", "{<<: [1]}", "{<<: [{a: 1}, 2]}"])
    def test_only_mappings(self, text: str) -> None:
        assert [path for *_, path in places(f"q: {text}")] == ["q.<<"]

    def test_the_source_is_left_alone(self) -> None:
        assert values("x: &x {a: 1}\ny: {<<: *x, a: 2}")[0]["x"] == {"a": 1}


@pytest.mark.req("IN-012")
class TestAliases:
    """Aliases are bounded, and known in their document."""

    @BOTH
    def test_the_latest_anchor(self, pure: bool) -> None:
        assert values("a: &x 1\nb: *x\nc: &x [2]\nd: *x", pure=pure) == [{"a": 1, "b": 1, "c": [2], "d": [2]}]

    @BOTH
    @pytest.mark.parametrize(
        "text", ["a: *x", "a: &x [*x]", "a: &x {b: [*x]}", "a: &x 1\nc: &x [*x]", "&x a: &y {b: *y}"]
    )
    def test_nothing_contains_itself(self, text: str, pure: bool) -> None:
        items, faults = read(text, pure=pure)
        assert not items
        assert len(faults) == 1

    def test_anchors_end_with_their_document(self) -> None:
        items, faults = read("a: &x 1\n---\nb: *x\n---\nc: 2\n")
        assert [item.document for item in items] == [1, 3]
        assert [fault.document for fault in faults] == [2]

    def test_a_bomb_is_reported_once(self) -> None:
        lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
        lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 30)]
        items, faults = read("\n".join(lines))
        assert not items
        assert len(faults) == 1

    def test_long_texts_count(self) -> None:
        assert read(f"a: &a {'x' * 100_000}\nb: [{', '.join(['*a'] * 10_000)}]")[1]

    def test_ordinary_use_is_free(self) -> None:
        text = "x: &x {a: [1, 2, 3]}\nz: [" + ", ".join(["*x"] * 10_000) + "]"
        assert len(values(text)[0]["z"]) == 10_000


@pytest.mark.req("IN-012")
class TestNestingLimit:
    @BOTH
    @pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ("{a: ", "}")])
    def test_at_the_limit(self, opening: str, closing: str, pure: bool) -> None:
        def nested(depth: int) -> str:
            return f"- a: {opening * (depth - 1)}{closing * (depth - 1)}\n- b: 1\n"

        assert not read(nested(256), pure=pure)[1]
        items, faults = read(nested(257), pure=pure)
        assert [item.value for item in items] == [{"b": 1}]
        assert len(faults) == 1

    def test_a_document_counts_like_an_element(self) -> None:
        assert not read("a: " + "[" * 255 + "]" * 255)[1]
        assert len(read("a: " + "[" * 256 + "]" * 256)[1]) == 1

    @pytest.mark.parametrize("text", ["a: " + "[" * 100_000, "a: " + "{a: " * 100_000, "- " * 100_000])
    def test_beyond_all_reason(self, text: str) -> None:
        items, faults = read(text)
        assert not items
        assert faults[-1].line == 1


@pytest.mark.req("IN-012")
class TestLargeObjects:
    """Text and values of one object are limited."""

    def test_too_many_values(self) -> None:
        items, faults = read("- [" + "1," * (MAX_NODES + 5) + "]\n- a: 1\n")
        assert [item.value for item in items] == [{"a": 1}]
        assert [fault.object for fault in faults] == ["items[0]"]

    def test_too_much_text(self) -> None:
        items, faults = read(f"- a: {'x' * MAX_CHARACTERS}\n- a: 1\n")
        assert [item.index for item in items] == [1]
        assert [fault.object for fault in faults] == ["items[0]"]


@pytest.mark.req("IN-014")
class TestBrokenSyntax:
    @BOTH
    @pytest.mark.parametrize(
        ("text", "line", "document", "where"),
        [
            ("a: 1\n---\nb: [\n", 4, 2, ""),
            ("a: 1\n---\nb: c: d\n---\ne: 1\n", 3, 2, ""),
            ("- a: 1\n- b: }\n", 2, 1, "items[1]"),
            ("kind: List\nitems:\n- a: 1\n- {\n", 5, 1, "items[1]"),
            ("a: 1\n--- !x!y z\n", 2, 2, ""),
        ],
    )
    def test_the_place_and_what_stood_before(self, text: str, line: int, document: int, where: str, pure: bool) -> None:
        items, faults = read(text, pure=pure)
        assert [item.value for item in items] == [{"a": 1}]
        assert [(fault.line, fault.object) for fault in faults] == [(line, where)]
        assert faults[0].document in {document, document - 1}

    @pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
    def test_the_column_of_a_forbidden_character(self, size: int) -> None:
        _, (fault,) = read("a: 1\nb: ☃☃ \x01\n", chunk_size=size)
        assert (fault.line, fault.column) == (2, 7)
        assert "U+0001" in fault.got

    @pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
    def test_what_stands_before_a_forbidden_character(self, size: int) -> None:
        items, faults = read("a: 1\n---\nb: \x07\n", chunk_size=size)
        assert [item.value for item in items] == [{"a": 1}]
        assert [(fault.line, fault.column) for fault in faults] == [(3, 4)]

    def test_tabs_and_other_unprintable_text_are_allowed(self) -> None:
        assert values("a: 'x\ty\u00a0\u3000'") == [{"a": "x\ty\u00a0\u3000"}]


def test_in014_a_flaw_costs_one_object() -> None:
    text = "items:\n- {kind: A, metadata: {name: m}, a: 1, a: .inf}\n- {b: 1}\n- 5\n- {c: *x}\n- {d: 1}\nkind: List\n"
    items, faults = read(text)
    assert [(item.index, item.value) for item in items] == [(1, {"b": 1}), (4, {"d": 1})]
    assert [fault.object for fault in faults] == ["A m", "A m", "items[2]", "items[3]"]


class TestIN020:
    """A document MUST be an object, or a list: a sequence, or a mapping with ``items``. The elements of a list are read
    one by one, lists in lists included. Anything else is a fault, as is a list of another kind and a file without
    content.
    """

    @pytest.mark.parametrize(
        "text",
        [
            "apiVersion: v1\nitems:\n- a: 1\n- b: 2\nkind: List\n",
            "kind: PodList\nitems: [{a: 1}, {b: 2}]\n",
            "<<: {kind: List}\nitems: [{a: 1}, {b: 2}]\n",
            "x: &x [{a: 1}, {b: 2}]\nkind: List\nitems: *x\n",
            "- a: 1\n- b: 2\n",
        ],
    )
    def test_elements(self, text: str) -> None:
        items, faults = read(text)
        assert [(item.document, item.index, item.value) for item in items] == [(1, 0, {"a": 1}), (1, 1, {"b": 2})]
        assert not faults

    def test_documents_have_no_index(self) -> None:
        items, _ = read("a: 1\n---\n---\nb: {items: [1]}\n")
        assert [(item.document, item.index) for item in items] == [(1, -1), (3, -1)]

    def test_kind_list_without_items_is_an_object(self) -> None:
        assert values("kind: AllowList\nspec: {}\n") == [{"kind": "AllowList", "spec": {}}]


@pytest.mark.parametrize(
    ("text", "count", "path", "lost"),
    [
        ("items: [{a: 1}]\nkind: Foo\n", 1, "kind", False),
        ("kind: Foo\nitems: [{a: 1}]\n", 1, "kind", False),
        ("items: [{a: 1}]\n", 1, "kind", True),
        ("items: []\n", 0, "kind", True),
        ("items: {}\nkind: List\n", 0, "items", True),
        ("items: x\nkind: List\n", 0, "items", True),
        ("items: [{a: 1}]\nkind: List\nitems: [{b: 1}]\n", 1, "items", True),
    ],
)
def test_in020_a_list_says_that_it_is_one(text: str, count: int, path: str, *, lost: bool) -> None:
    """A list without its kind may be cut off, as ``kubectl`` writes it after the items."""
    items, faults = read(text)
    assert len(items) == count
    assert [(fault.path, fault.lost) for fault in faults] == [(path, lost)]


@pytest.mark.parametrize(
    ("text", "where"),
    [("5", ""), ("text", ""), ("[1]", "items[0]"), ("- [a]", "items[0]"), ("- {a: 1}\n- ~", "items[1]")],
)
def test_in020_what_is_no_object(text: str, where: str) -> None:
    _, faults = read(text)
    assert [(fault.object, fault.expected) for fault in faults] == [(where, "an object")]


def test_in020_lists_in_lists() -> None:
    items, faults = read("kind: List\nitems:\n- kind: PodList\n  items: [{a: 1}, 7, {kind: List, items: [{b: 1}]}]\n")
    assert [(item.index, item.value) for item in items] == [(0, {"a": 1}), (0, {"b": 1})]
    assert [fault.object for fault in faults] == ["items[0].items[1]"]


@BOTH
@pytest.mark.parametrize("text", ["", "\n \n", "# nothing\n", "---\n---\n", "null", "--- ~\n...\n", "\ufeff"])
def test_in020_a_file_of_nothing(text: str, pure: bool) -> None:
    items, faults = read(text, pure=pure)
    assert not items
    assert [(fault.document, fault.expected) for fault in faults] == [(0, "at least one object")]


@pytest.mark.parametrize("text", ["kind: List\nitems: []", "kind: List\nitems:\n", "[]"])
def test_in020_an_empty_list_is_content(text: str) -> None:
    assert read(text) == ([], [])


@pytest.mark.parametrize("labels", ["a: b", "<<: {a: b}"])
def test_in012_memory_does_not_grow_with_the_list(labels: str) -> None:
    pod = f"- kind: Pod\n  metadata: {{name: p, labels: {{{labels}, c: d}}}}\n  spec: {{x: [{{name: a, image: b}}]}}\n"

    def peak(count: int) -> int:  # two megabytes, if objects were kept
        data = io.BytesIO(("kind: List\nitems:\n" + pod * count).encode())
        tracemalloc.start()
        assert sum(1 for _ in input_items_from_yaml(Utf8Stream(data, 4096), "f", [])) == count
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    assert peak(2000) < 500_000
