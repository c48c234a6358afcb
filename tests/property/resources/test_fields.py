"""Look-ups in untrusted JSON: valid values are returned, others are noted with their path."""

from typing import Any, Final

import pytest
from hypothesis import given

from grove_core.kernel.errors import ObjectProblem
from grove_core.kernel.time_formats import parse_time
from grove_core.resources.json_field_reader import JsonFieldReader, short_json
from grove_core.resources.naming_rules import (
    member_clique_name,
    parse_replica_index,
    replica_index_in_name,
    scaling_group_name,
    standalone_clique_name,
)
from tests.property.resources.manifests import SINCE, any_json

LONGEST: Final = 60


def fields(raw: object, path: str = "status") -> JsonFieldReader:
    return JsonFieldReader(raw, path, [])


def paths(read: JsonFieldReader) -> list[str]:
    return [problem.path for problem in read.problems]


class TestShown:
    """A value as a report shows it: short, on one line."""

    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (None, "nothing"),
            (True, "true"),
            (False, "false"),
            (0, "0"),
            (-1.5, "-1.5"),
            ("three", '"three"'),
            ("", '""'),
            ("a\nb", '"a b"'),
            ("a\r\tb\x1b[2J\u2028c", '"a  b [2J c"'),
            ([], "a list of 0"),
            ((1, 2), "a list of 2"),
            ({"a": 1}, "an object with 1 key"),
            ("x" * 100, '"' + "x" * 56 + "..."),
            ("x" * 58, '"' + "x" * 58 + '"'),
            (10**70, "1" + "0" * 56 + "..."),
            (2**20_000, "an integer of 20001 bits"),
            (-(2**20_000), "an integer of 20001 bits"),
        ],
        ids=lambda value: ascii(value)[:20] if not isinstance(value, int) else "",
    )
    def test_as_a_person_reads_it(self, value: object, text: str) -> None:
        assert short_json(value) == text

    @given(any_json())
    def test_it_is_short_and_on_one_line(self, value: object) -> None:
        assert 0 < len(short_json(value)) <= LONGEST
        assert short_json(value).isprintable()


class TestLookUps:
    """Every kind of field, present, absent and wrong."""

    def test_text(self) -> None:
        read = fields({"a": "x", "b": "", "c": 5, "d": None})
        assert [read.text(key) for key in "abcde"] == ["x", "", "", "", ""]
        assert paths(read) == ["status.c"]

    def test_required_text(self) -> None:
        read = fields({"a": "x", "b": "", "c": 5, "d": None})
        assert [read.text(key, required=True) for key in "abcde"] == ["x", "", "", "", ""]
        assert paths(read) == ["status.b", "status.c", "status.d", "status.e"]
        assert [problem.expected for problem in read.problems] == ["a string", "a string", "a value", "a value"]

    @pytest.mark.parametrize("value", [0, 1, 2**31 - 1])
    def test_an_integer_in_range(self, value: int) -> None:
        read = fields({"a": value})
        assert read.integer("a") == value
        assert not read.problems

    @pytest.mark.parametrize("value", [-1, 2**31, True, False, 1.0, "1", [], {}])
    def test_no_integer_in_range(self, value: object) -> None:
        read = fields({"a": value})
        assert read.integer("a") is None
        assert paths(read) == ["status.a"]

    def test_an_integer_has_a_least_value_and_may_be_required(self) -> None:
        read = fields({"a": 1, "b": None})
        assert read.integer("a", at_least=1) == 1
        assert read.integer("a", at_least=2) is None
        assert read.integer("b") is None
        assert read.integer("b", required=True) is None
        assert read.problems == [
            ObjectProblem(path="status.a", expected="an integer of at least 2", got="1"),
            ObjectProblem(path="status.b", expected="an integer of at least 0", got="nothing"),
        ]

    def test_flag(self) -> None:
        read = fields({"a": True, "b": False, "c": None, "d": "true", "e": 1})
        assert [read.boolean(key) for key in "abcdef"] == [True, False, None, None, None, None]
        assert paths(read) == ["status.d", "status.e"]

    def test_time(self) -> None:
        read = fields({"a": SINCE, "b": None, "c": "2026-11-20", "d": 5})
        assert [read.time(key) for key in "abcde"] == [parse_time(SINCE), None, None, None, None]
        assert read.time("b", required=True) is None
        assert paths(read) == ["status.c", "status.d", "status.b"]

    def test_texts(self) -> None:
        read = fields({"a": ["x", "", "y"], "b": ["x", 5, None, "y"], "c": "x", "d": None})
        assert [read.text_list(key) for key in "abcde"] == [("x", "", "y"), ("x", "y"), (), (), ()]
        assert paths(read) == ["status.b[1]", "status.b[2]", "status.c"]

    def test_part(self) -> None:
        read = fields({"a": {"b": {"c": 5}}, "d": [], "e": None})
        assert read.inner_object("a").inner_object("b").text("c") == ""
        assert [dict(read.inner_object(key).raw) for key in "def"] == [{}, {}, {}]
        assert paths(read) == ["status.a.b.c", "status.d"]

    def test_parts(self) -> None:
        read = fields({"a": [{"b": 5}, None, "x", {}], "c": {}, "d": None})
        assert [part.path for part in read.inner_objects("a")] == [
            "status.a[0]",
            "status.a[1]",
            "status.a[2]",
            "status.a[3]",
        ]
        assert [list(read.inner_objects(key)) for key in "cde"] == [[], [], []]
        assert paths(read) == ["status.a[1]", "status.a[2]", "status.c"]

    def test_the_outermost_object_has_no_path(self) -> None:
        read = fields({"a": 5, "b": {"c": 5}, "d": [{"e": 5}, 5]}, path="")
        read.text("a")
        read.inner_object("b").text("c")
        for part in read.inner_objects("d"):
            part.text("e")
        assert paths(read) == ["a", "b.c", "d[0].e", "d[1]"]
        assert paths(fields(5, path="")) == [""]

    def test_null_is_not_contained(self) -> None:
        read = fields({"a": 0, "b": None})
        assert ["a" in read, "b" in read, "c" in read] == [True, False, False]

    @given(any_json())
    def test_a_lookup_never_raises(self, raw: Any) -> None:
        read = fields(raw)
        keys = (*read.raw, "absent")
        for key in keys:
            assert isinstance(read.text(key), str)
            read.text(key, required=True)
            read.integer(key, at_least=1, required=True)
            read.boolean(key)
            read.time(key, required=True)
            assert all(isinstance(text, str) for text in read.text_list(key))
            read.inner_object(key).inner_object("deeper")
            assert all(isinstance(part, JsonFieldReader) for part in read.inner_objects(key))
        assert all(problem.path.startswith("status") and problem.expected for problem in read.problems)


class TestNames:
    """Names hold an index, and it is found again."""

    @pytest.mark.parametrize("index", [0, 1, 10, 123])
    @pytest.mark.parametrize("owner", ["llm", "llm-0", "llm-0-pool", "0", "a-1-b"])
    def test_the_index_is_found_again(self, owner: str, index: int) -> None:
        for name in (standalone_clique_name, scaling_group_name, member_clique_name):
            assert replica_index_in_name(owner, name(owner, index, "part")) == index
            assert replica_index_in_name(owner, name(owner, index, "part-7-b")) == index

    def test_names_are_those_of_the_operator(self) -> None:
        assert standalone_clique_name("llama", 0, "router") == "llama-0-router"
        assert scaling_group_name("llama", 0, "decode") == "llama-0-decode"
        assert member_clique_name("llama-0-decode", 1, "worker") == "llama-0-decode-1-worker"

    @pytest.mark.parametrize(
        "name", ["llm", "llm-", "llm-0", "llm-x-a", "llm--1-a", "llm-1.0-a", "other-0-a", "xllm-0-a", "llm0-0-a"]
    )
    def test_other_names_hold_none(self, name: str) -> None:
        assert replica_index_in_name("llm", name) is None

    @pytest.mark.parametrize(
        "text", ["", "-1", "+1", "1 ", "\N{SUPERSCRIPT TWO}", "\N{ARABIC-INDIC DIGIT TWO}", "1" * 11]
    )
    def test_an_index_is_written_in_few_plain_digits(self, text: str) -> None:
        assert parse_replica_index(text) is None
        assert parse_replica_index("2147483647") == 2**31 - 1


def test_gt025_what_is_no_flag_is_quoted() -> None:
    fields = JsonFieldReader({"on": "yes"}, "", [])
    assert fields.boolean("on") is None
    assert [(one.path, one.expected, one.got) for one in fields.problems] == [("on", "true or false", '"yes"')]
