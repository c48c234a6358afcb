"""Pages of plans: every object with its state, every step with its reasons, and every sentence of the text page."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest

from grove_shell.catalogue.specification_rules import specification_rules_by_number
from grove_shell.views.tree.object_states import ObjectState, most_urgent_state
from tests.html.reading import EXAMPLES, REAL, Document, objects_of, page_of, parsed, run
from tests.html.test_plan_pages import PLANS

LABEL: Final = re.compile(r"^  [A-Z][A-Z -]* {2,}")
CITATION: Final = re.compile(r"  \w+ [A-Z]{2}-\d{3}$")
FRAME: Final = re.compile(
    r"(as of|now:|no termination pending:|decisions|round \d+ at|nothing to write|\(\d+ ).*"
    r"|replica \d+: (it would be terminated at [^;]*; the steps below prevent that: )?|-> "
)
"""Parts of lines that a page shows in another form."""


def document_of(*words: str) -> Any:
    return json.loads(run("plan", *words, "-o", "json").out)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Document]:
    folder = tmp_path_factory.mktemp("pages")
    return {name: parsed(page_of(folder, *words)) for name, words in PLANS.items()}


def states_of(found: Document) -> dict[str, str]:
    """Return the id of each PodClique and pod -> the word of its state."""
    return {str(a["id"]): str(a["data-state"]) for _, a in found.tags if "data-state" in a and "id" in a}


class TestHP005:
    """The page of a plan MUST show every replica, scaling group, PodClique and pod of the input, and those that the
    plan creates now, each with its state as a word. No state is shown by its colour alone.
    """

    def test_every_object_of_the_input(self, shown: dict[str, Document]) -> None:
        items = objects_of(REAL)["items"]
        kinds = {"PodCliqueSet", "PodCliqueScalingGroup", "PodClique", "Pod"}
        names = {one["metadata"]["name"] for one in items if one["kind"] in kinds}
        assert len(names) > 40
        assert names <= set(shown["real"].ids)
        states = states_of(shown["real"])
        for one in items:
            if one["kind"] == "Pod":
                conditions = {each["type"]: each["status"] for each in one["status"]["conditions"]}
                placed, ready = conditions["PodScheduled"] == "True", conditions.get("Ready") == "True"
                expected = "ready" if ready else "not ready" if placed else "no node"
                assert states[one["metadata"]["name"]] == expected
        assert Counter(states.values())["no node"] == 2

    def test_states_of_podcliques(self, shown: dict[str, Document]) -> None:
        states = states_of(shown["real"])
        assert {name for name, state in states.items() if state == "breached"} == {
            "qwen-1-worker",
            "deepseek-0-prefill-0-pw",
        }
        assert {name for name, state in states.items() if state == "waiting"} == {"qwen-1", "deepseek-0-prefill-0"}
        assert states["qwen-1-router"] == "ready"
        assert "qwen-1-router ready ends 09:40:29Z, in 29s 1 of 1 pods ready" in shown["real"].words
        assert "replica 1 waiting ends 09:40:29Z, in 29s" in shown["real"].words
        assert "deepseek-0-prefill waiting inside" in shown["real"].words

    def test_what_ends_now(self, tmp_path: Path) -> None:
        found = parsed(page_of(tmp_path, "-f", str(REAL), "--now", "2026-11-21T09:41:30Z", "--rules", "field"))
        states = states_of(found)
        assert {states[name] for name in ("qwen-1-router", "qwen-1-worker", "deepseek-0-prefill-0-pl")} == {"will end"}
        assert states["qwen-0-worker"] == "ready"
        assert "TERMINATE replica 1 now, with 2 PodCliques, 5 pods (3 ready) and 4 GPUs" in found.words

    @pytest.mark.parametrize("name", ["new", "domains"])
    def test_what_the_plan_creates(self, name: str, shown: dict[str, Document]) -> None:
        rounds = [one for plan in document_of(*PLANS[name])["plans"] for one in plan["rounds"]]
        created = {
            step["target"]["name"]: step["target"]["kind"]
            for one in rounds
            for step in one["steps"]
            if step["action"] == "create" and step["target"]["kind"] in {"PodClique", "Pod"}
        }
        states = states_of(shown[name])
        cliques = {one for one, kind in created.items() if kind == "PodClique"}
        assert {one for one in cliques if states[one] == "created"} == cliques != set()
        owners = {re.sub(r"-[a-z0-9]{5}$", "", one) for one, kind in created.items() if kind == "Pod"}
        assert owners == {re.sub(r"-[a-z0-9]{5}$", "", one) for one in states if one not in cliques} != set()

    def test_each_state_has_a_word_and_a_picture_of_its_own(self, shown: dict[str, Document]) -> None:
        pictures = [str(a["id"]) for tag, a in shown["real"].tags if tag == "symbol"]
        assert pictures == [f"-i-{state.css_class}" for state in ObjectState]
        assert len({state.value for state in ObjectState}) == len(ObjectState)
        (style,) = shown["real"].styles
        for state in ObjectState:
            assert f".badge.{state.css_class}" in style

    def test_the_most_urgent_state_counts(self) -> None:
        assert most_urgent_state([ObjectState.READY, ObjectState.WAITS, ObjectState.GATED]) is ObjectState.WAITS
        assert most_urgent_state([]) is ObjectState.READY


class TestHP007:
    """Every step and every withheld step of the plan MUST be on its page with all of its reasons, the text of each
    cited rule, and its difference. Rounds that repeat earlier ones are counted. A difference that equals another but
    for names, uids and indices may stand once.
    """

    @pytest.mark.parametrize("name", ["real", "degraded", "edit", "new", "groups"])
    def test_every_step_with_its_reasons(self, name: str, shown: dict[str, Document]) -> None:
        words = shown[name].words
        rules = specification_rules_by_number()
        document = document_of(*PLANS[name])
        every = [
            step for plan in document["plans"] for one in plan["rounds"] for step in (*one["steps"], *one["withheld"])
        ]
        assert every
        random = re.compile(r"-[a-z0-9]{5}$")
        for step in every:
            target = step["target"]
            assert (random.sub("", target["name"]) if target["kind"] == "Pod" else target["name"]) in words
            for why in step["because"]:
                assert why["sentence"] in words or target["kind"] == "Pod"
                assert f"{why['rule']} {why['requirement']}" in words
                assert " ".join(rules[why["requirement"]].text.split()) in words

    def test_a_status_update_shows_what_changes(self, shown: dict[str, Document]) -> None:
        assert "status: - scheduleGatedReplicas: 2 + scheduleGatedReplicas: 0" in shown["real"].words

    def test_a_later_write_is_compared_with_the_one_before(self, shown: dict[str, Document]) -> None:
        words = shown["real"].words
        assert "- name: qwen-1-worker - podReferences: - - namespace: llm-serving - name: qwen-1-worker-" in words
        assert "- podReferences: [] + podReferences: + - namespace: llm-serving" in words

    def test_like_steps_stand_together(self, shown: dict[str, Document]) -> None:
        words = shown["real"].words
        assert "create 4 Pods of qwen-1-worker" in words
        assert "This is the first of them; the others differ in names, uids and indices alone." in words

    def test_equal_differences_stand_once(self, shown: dict[str, Document]) -> None:
        found = shown["degraded"]
        assert "It writes the same as an earlier step, but for names, uids and indices." in found.words
        assert any(link.startswith("#-difference-") for link in found.links)

    def test_a_deletion_shows_what_it_takes(self, shown: dict[str, Document]) -> None:
        assert (
            "delete 2 PodCliques: qwen-1-router, qwen-1-worker with 5 pods (3 ready) and 4 GPUs" in shown["real"].words
        )


class TestHP008:
    """Every warning, note, finding and hint of the text page MUST be on the page of a plan."""

    @pytest.mark.parametrize("name", ["real", "degraded", "edit", "new", "groups"])
    def test_every_sentence(self, name: str, shown: dict[str, Document]) -> None:
        page = shown[name].words.replace(" ", "")
        missing = []
        for line in run("plan", *PLANS[name]).out.splitlines()[1:]:
            bare = FRAME.sub("", LABEL.sub("", CITATION.sub("", line)).strip())
            parts = [part for chunk in re.split(r"\s{2,}", bare) for part in chunk.split("; ")]
            missing += [part for part in parts if part.replace(" ", "") not in page]
        assert missing == []

    def test_notes_and_warnings(self, tmp_path: Path) -> None:
        bare = tmp_path / "bare.json"
        items = objects_of(REAL)["items"]
        kept = [one for one in items if one["kind"] not in {"Pod", "PodGang"}]
        bare.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": kept}), encoding="utf-8")
        found = parsed(page_of(tmp_path, "-f", str(bare)))
        assert "not collected: " in run("plan", "-f", str(bare)).out
        assert "not collected: Pod" in found.words
        assert "pods wanted; pods are not collected" in found.words

    def test_nothing_decided(self, tmp_path: Path) -> None:
        empty = tmp_path / "empty.yaml"
        empty.write_text("apiVersion: v1\nkind: List\nitems: []\n", encoding="utf-8")
        done = run("plan", "-f", str(empty))
        found = parsed(page_of(tmp_path, "-f", str(empty), code=done.code))
        assert done.out.splitlines()[0] in found.words
        assert done.code == 3

    def test_verdicts_of_policies(self, tmp_path: Path) -> None:
        policy = tmp_path / "policy.yaml"
        ready = (EXAMPLES / "policies" / "no-termination.yaml").read_text(encoding="utf-8").partition("tests:")[0]
        policy.write_text(ready.replace('"inference"', '"llm-serving"'), encoding="utf-8")
        words = ("-f", str(REAL), "--now", "2026-11-21T09:41:30Z", "--policy", str(policy))
        found = parsed(page_of(tmp_path, *words, code=3))
        assert "a gang of llm-serving/qwen is terminated" in run("plan", *words).out
        assert "a gang of llm-serving/qwen is terminated" in found.words

    def test_every_verdict_where_it_is_asked_for(self, shown: dict[str, Document]) -> None:
        words = shown["every verdict"].words
        for plan in document_of(*PLANS["every verdict"])["plans"]:
            for one in plan["decisions"]:
                assert f"{one['question']}: {one['verdict']}" in words
                assert all(why["sentence"] in words for why in one["because"])
