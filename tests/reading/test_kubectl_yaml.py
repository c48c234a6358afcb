"""Lists that kubectl printed as YAML are read without the YAML parser, and read as the parser reads them."""

import io
import json
import re
from typing import Any, Final, TypeAlias

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from grove_core.kernel.structs import replace
from grove_shell.reading.cluster_reading import load_input_files
from grove_shell.reading.input_faults import InputFault
from grove_shell.reading.input_items import InputItem
from grove_shell.reading.kubectl_output_yaml import KubectlYamlConverter
from grove_shell.reading.kubectl_yaml_items import KubectlYamlItemReader
from grove_shell.reading.kubectl_yaml_lines import NotKubectlYaml
from grove_shell.reading.utf8_stream import Utf8Stream
from grove_shell.reading.yaml_input_items import input_items_from_yaml
from tests.property.few_examples import RARELY
from tests.reading.test_pod_runs import CLIQUE, SOUND, Json, as_list, named
from tests.reading.test_pod_runs import Read as ReadJson

TEXTS: Final = st.one_of(
    st.sampled_from(
        [
            *(
                "yes",
                "on",
                "~",
                "null",
                "",
                "0777",
                "0x1f",
                "1_000",
                "1e3",
                ".5",
                "-1",
                "+5",
                "1:30",
                "2026-11-21",
                "<<",
            ),
            *(
                "a: b",
                "a #b",
                "- a",
                "it's",
                'say "x"',
                "a\nb",
                "a\n",
                "a\n\nb",
                " a",
                "a ",
                "\ta",
                "#a",
                "&a",
                "*a",
                "!a",
            ),
            *("{}", "[]", "{a", "a}", "|", ">-", "@a", "`a", "%a", "?", "? a", ":", ":a", "a:", "-", "--", "---", "="),
            *("é", "日本", "\u2028", "\x7f", "\ud7ff", "x" * 90, "long words " * 12, "it's long, " * 12),
        ]
    ),
    st.text(max_size=12).filter(lambda text: not re.search("[\ud800-\udfff]", text)),
)
SCALARS: Final = TEXTS | st.integers(-(2**63), 2**63 - 1) | st.booleans() | st.none() | st.floats(-1e6, 1e6)
KEYS: Final = st.sampled_from(["a", "b", "grove.io/podgang", "f:x", "1", "0777", "yes", "", "a b", "k", "name"]) | TEXTS
VALUES: Final = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
OBJECTS: Final = st.dictionaries(KEYS, VALUES, min_size=1, max_size=4)


class Dumper(yaml.SafeDumper):
    """Writes every value out."""

    def ignore_aliases(self, _data: object) -> bool:
        """Write no alias for any value."""
        return True


class Indented(Dumper):
    """Writes the items of a list further to the right than its key, as other tools do."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> Any:
        """Indent lists too."""
        return super().increase_indent(flow, indentless=False)


def as_yaml(items: list[Any], *, width: int = 80, style: str | None = None, is_indented: bool = False) -> str:
    """Return a list as kubectl prints it."""
    dumper = Indented if is_indented else Dumper
    text = yaml.dump(
        items, Dumper=dumper, default_flow_style=False, allow_unicode=True, width=width, default_style=style
    )
    return f"apiVersion: v1\nitems:\n{text}kind: List\nmetadata:\n  resourceVersion: ''\n"


def by_parser(text: str) -> tuple[list[InputItem], list[InputFault]]:
    """Return what the parser reads of a list; a comment makes the text one that kubectl does not print."""
    faults: list[InputFault] = []
    raw = text.replace("apiVersion: v1\nitems:", "apiVersion: v1 \nitems:", 1)
    return list(input_items_from_yaml(Utf8Stream(io.BytesIO(raw.encode())), "f", faults)), faults


def as_printed(text: str, size: int = 1 << 16) -> tuple[list[InputItem], list[InputFault]]:
    """Return what is read of a list."""
    faults: list[InputFault] = []
    return list(input_items_from_yaml(Utf8Stream(io.BytesIO(text.encode()), size), "f", faults)), faults


Result: TypeAlias = tuple[list[InputItem], list[InputFault]]


def assert_same(printed: Result, parsed: Result) -> None:
    """Compare two results, where ``True`` is not 1.

    A syntax error behind an item may cost the parser that item, since it reads ahead, and belongs to no item else.
    """
    (items, faults), (others, their_faults) = printed, parsed
    if any("reading stopped here" in fault.expected + fault.got for fault in their_faults):
        items = items[: len(items) - (len(items) == len(others) + 1)]
        faults, their_faults = ([replace(fault, object="") for fault in both] for both in (faults, their_faults))
    assert repr((items, faults)) == repr((others, their_faults))


@RARELY
@given(
    items=st.lists(OBJECTS, min_size=1, max_size=4),
    width=st.sampled_from([20, 80, 10**6]),
    is_indented=st.booleans(),
    size=st.sampled_from([7, 64, 1 << 16]),
)
@pytest.mark.req("IN-001")
@pytest.mark.req("IN-006")
@pytest.mark.req("IN-020")
def test_a_printed_list_is_read_as_the_parser_reads_it(
    items: list[Json], width: int, is_indented: bool, size: int
) -> None:
    text = as_yaml(items, width=width, is_indented=is_indented)
    assert_same(as_printed(text, size), by_parser(text))


@RARELY
@given(
    lines=st.lists(st.sampled_from(as_yaml([SOUND, CLIQUE]).split("\n")[2:]), max_size=14),
    edits=st.lists(st.tuples(st.integers(0, 400), st.sampled_from(list(" -:'\"|#&*\n?{}[]~1a!,\t\\"))), max_size=4),
)
@pytest.mark.req("IN-001")
@pytest.mark.req("IN-006")
@pytest.mark.req("IN-014")
def test_any_text_is_read_as_the_parser_reads_it(lines: list[str], edits: list[tuple[int, str]]) -> None:
    text = "- a: 1\n" + "\n".join(lines) + "\n"
    for at, character in edits:
        place = at % len(text)
        text = text[:place] + character + text[place + at % 2 :]
    text = f"apiVersion: v1\nitems:\n{text}kind: List\n"
    assert_same(as_printed(text), by_parser(text))


@RARELY
@given(
    whole=st.just(as_yaml([SOUND, CLIQUE, named(2, SOUND)])),
    edits=st.lists(st.tuples(st.integers(0, 10**4), st.sampled_from(list(" -:'\"|#&*\n?{}[]~1a!,\t\\"))), max_size=3),
)
@pytest.mark.req("IN-001")
@pytest.mark.req("IN-006")
@pytest.mark.req("IN-014")
def test_a_list_with_slips_is_read_as_the_parser_reads_it(whole: str, edits: list[tuple[int, str]]) -> None:
    for at, character in edits:
        place = 24 + at % (len(whole) - 24)
        whole = whole[:place] + character + whole[place + at % 2 :]
    assert_same(as_printed(whole), by_parser(whole))


@pytest.mark.parametrize("style", [None, '"', "'"])
@pytest.mark.req("IN-006")
def test_a_dump_is_read_without_the_parser(style: str | None) -> None:
    pods = [named(number, SOUND) for number in range(200)]
    note = '[{\n    "name": "cbr0"\n}]'
    pods[7] = {**pods[7], "metadata": {**pods[7]["metadata"], "annotations": {"network-status": note}}}
    message = "0/20 nodes are available: 20 Insufficient nvidia.com/gpu. preemption: it's not helpful for scheduling."
    pods[9] = {**pods[9], "status": {"phase": "Pending", "message": message}}
    text = as_yaml(pods, style=style)
    if style is None:
        text = re.sub(r"network-status: .*?\n(?=    creationTimestamp)", _literal(note), text, flags=re.DOTALL)
    printed = KubectlYamlItemReader(Utf8Stream(io.BytesIO(text.encode()), 4096), "f", None)
    found = [item.value for item in printed.items()]
    assert style is not None or found == pods
    assert [item.value for item in as_printed(text)[0]] == pods
    loaded, expected = load_input_files(["-"], io.BytesIO(text.encode())), ReadJson(as_list(pods))
    assert loaded.cluster == expected.loaded.cluster
    assert manifests_of(loaded) == manifests_of(expected.loaded)


def manifests_of(loaded: Any) -> list[object]:
    """Return what a comparison of pods leaves out."""
    return [(pod.name, pod.manifest, pod.requests) for pods in loaded.cluster.pods_of.values() for pod in pods]


def _literal(text: str) -> str:
    return "network-status: |-\n" + "".join(f"        {line}\n" for line in text.split("\n"))


@pytest.mark.parametrize(
    "item",
    [
        "a: &x 1",
        "a: *x",
        "a: !!str 1",
        "a: 1 # one",
        "a: .nan",
        "a: 1.5",
        "a: [1, 2]",
        "a: {b: 1}",
        "a: >-\n    b",
        "a: |2\n     b",
        "a: 'b",
        "a:",
        "a: 1\n  a: 2",
        "yes: 1",
        "a: 'b'\n    c",
        "a: \tb",
        "<<: {}",
        "? a\n  : b",
    ],
)
def test_in001_what_kubectl_does_not_print_is_left_to_the_parser(item: str) -> None:
    with pytest.raises(NotKubectlYaml):
        KubectlYamlConverter().json_of_item(f"- {item}")


def test_in014_bytes_that_are_no_text_end_a_printed_list_at_their_line() -> None:
    raw = as_yaml([CLIQUE, SOUND]).encode().replace(b"phase: Running", b"phase: Runn\xff")
    faults: list[InputFault] = []
    items = list(input_items_from_yaml(Utf8Stream(io.BytesIO(raw), 64), "f", faults))
    assert [item.value for item in items] == [CLIQUE]
    assert [(fault.line, fault.got) for fault in faults] == [
        (raw[: raw.index(b"\xff")].count(b"\n") + 1, "the byte 0xff, which is not UTF-8")
    ]


def test_in020_a_list_that_is_cut_off_after_an_item_is_reported() -> None:
    text = as_yaml([CLIQUE, SOUND])
    whole = text[: text.index("kind: List")]
    assert_same(as_printed(whole), by_parser(whole))
    assert as_printed(whole)[1]
    assert json.loads(KubectlYamlConverter().json_of_item(whole.split("items:\n")[1].split("\n- ")[0])) == CLIQUE
