"""Tables of results, the JSON of results, and what a notebook shows (LB-014, LB-016, LB-020)."""

import copy
import json
import pickle
import re
from functools import cache
from html.parser import HTMLParser
from typing import Any, Final

import pytest

import grove_shell as grove
from grove_core.kernel.time_formats import parse_time
from tests.library.test_reading import EXAMPLES, RECORDED, objects, printed

EDIT: Final = EXAMPLES / "edits" / "qwen-new-image.yaml"
HOSTILE: Final = "<script>alert(1)</script><img src=x onerror='a()'>\u202e&amp;"
TAGS: Final = {"p", "b", "table", "caption", "thead", "tbody", "tr", "th", "td"}
CLUSTER: Final = grove.read(RECORDED)
QUIET: Final = grove.plan(CLUSTER, sets="embed")
LOUD: Final = grove.forecast(CLUSTER, until="6h")


class Shown(HTMLParser):
    """The elements of a text, and their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.attributes, self.text = set[str](), set[str](), ""
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.open.append(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@cache
def results(cluster: grove.Cluster) -> dict[str, Any]:
    """Every result that a notebook shows."""
    return {
        "cluster": cluster,
        "plan": grove.plan(cluster),
        "forecast": grove.forecast(cluster, until="6h"),
        "explanation": grove.explain(cluster, "pclq/qwen-1-worker"),
        "comparison": grove.compare(cluster, "design", "field", until="6h"),
        "validation": grove.validate(EXAMPLES),
        "table": grove.forecast(cluster, until="6h").terminations,
    }


class TestLB014:
    """A table of a result MUST name its columns, the same ones in the same order with rows and without."""

    @pytest.mark.parametrize("name", ["terminations", "waiting", "edits", "new_sets", "steps", "withheld"])
    def test_an_empty_table_has_the_columns_of_a_filled_one(self, name: str) -> None:
        empty, filled = getattr(QUIET, name), getattr(grove.plan(grove.read(RECORDED, EDIT)), name)
        assert empty.columns == filled.columns
        assert all(row._fields == filled.columns for row in filled)
        assert empty.to_columns() == {column: [] for column in filled.columns}

    def test_a_table_is_a_tuple_of_its_rows(self) -> None:
        found = LOUD.terminations
        assert QUIET.terminations == ()
        assert [*found] == [found[0], found[1]]
        assert found.to_columns()["gpus"] == [one.gpus for one in found]
        for copied in (pickle.loads(pickle.dumps(found)), copy.copy(found)):  # noqa: S301 - our own
            assert (copied, copied.columns) == (found, found.columns)

    def test_data_frames_take_it(self) -> None:
        pandas = pytest.importorskip("pandas")
        for table in (QUIET.terminations, LOUD.terminations):
            assert [*pandas.DataFrame(table.to_columns()).columns] == [*grove.Termination._fields]
            assert [*pandas.DataFrame(table, columns=table.columns).columns] == [*grove.Termination._fields]
        assert pandas.DataFrame(LOUD.terminations.to_columns()).gpus.sum() == 20


class TestLB016:
    """What an input says MUST be text in the HTML of a result, never markup."""

    def test_nothing_of_an_input_is_markup(self) -> None:
        found = objects()
        for one in found:
            one["metadata"]["annotations"] = {"grove.io/topology-name": HOSTILE}
            if one["kind"] == "Pod":
                one["spec"]["nodeName"] = HOSTILE
                one["status"] |= {"reason": HOSTILE, "phase": HOSTILE, "message": HOSTILE}
        cluster = grove.read(found, faults="return", now="dump")
        for name, result in results(cluster).items():
            shown = Shown(result._repr_html_())
            assert shown.tags <= TAGS, name
            assert shown.attributes <= {"style"}
            assert shown.open == []
            assert "\u202e" not in shown.text

    def test_a_message_with_markup_is_shown_as_it_is(self) -> None:
        cluster = grove.read(RECORDED, f"{HOSTILE[:25]}.yaml", faults="return")
        assert "<script>" not in cluster._repr_html_()
        assert "<script>alert(1)</script>.yaml: no such file" in Shown(cluster._repr_html_()).text
        assert "<script>" not in grove.plan(cluster)._repr_html_()

    @pytest.mark.parametrize("name", results(CLUSTER))
    def test_it_has_headings_and_no_colours(self, name: str) -> None:
        html = results(CLUSTER)[name]._repr_html_()
        assert {"table", "th", "td"} <= Shown(html).tags
        assert not re.search("color|background|None|datetime", html)

    def test_what_is_not_known_is_said(self) -> None:
        """An empty cell would read as none."""
        text = Shown(LOUD._repr_html_()).text
        assert text.count("not known") == 4
        assert "GPUs" in text
        assert "gpus" not in text
        compared = Shown(grove.compare(CLUSTER, "design", "field", until="6h")._repr_html_()).text
        assert "not known" not in compared

    def test_what_a_plan_of_an_edit_shows(self) -> None:
        text = Shown(grove.plan(grove.read(RECORDED, EDIT))._repr_html_()).text
        assert "how many serve during edits" in text
        assert re.search(r"\d+ pods, \d+ GPUs?", text)
        assert "no rows" in QUIET.terminations._repr_html_()


class TestLB020:
    """``to_dict`` of a plan, an explanation, a comparison and a validation MUST be the JSON document of the command,
    and ``to_json`` its text.
    """

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("plan", ("plan", "-f", str(RECORDED))),
            ("forecast", ("plan", "-f", str(RECORDED), "--until", "6h")),
            ("explanation", ("explain", "-f", str(RECORDED), "pclq/qwen-1-worker")),
            (
                "comparison",
                ("compare", "-f", str(RECORDED), "--rules", "design", "--rules", "field", "--until", "6h"),
            ),
        ],
    )
    def test_it_is_what_the_command_prints(self, name: str, words: tuple[str, ...]) -> None:
        found = results(CLUSTER)[name]
        assert found.to_dict() == printed(*words)
        assert json.loads(found.to_json()) == found.to_dict()

    def test_of_a_validation(self) -> None:
        found = grove.validate(EXAMPLES / "edits")
        assert found.to_dict() == printed("validate", "-f", str(EXAMPLES / "edits"))

    def test_a_cluster_has_its_sets(self) -> None:
        found = json.loads(CLUSTER.to_json())
        assert [one["name"] for one in found["sets"]] == ["deepseek", "embed", "qwen"]
        assert (found["now_from"], parse_time(found["now"])) == ("input", CLUSTER.now)
        qwen = CLUSTER.sets[2]
        assert found["sets"][2] == qwen.to_dict()
        assert {one["name"] for clique in found["sets"][2]["cliques"] for one in clique["pods"]} == {
            pod.name for pod in qwen.pods
        }
        assert found["sets"][2]["replicas"][0]["until"] == "2026-11-21T09:40:29Z"
