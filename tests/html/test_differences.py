"""Differences of steps and ids of objects, by themselves (HP-006, HP-007)."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Apply, Create, Delete, DropFinalizer, SetStatus, Step, StepStage
from grove_core.kernel.time_formats import format_time
from grove_core.resources.api_names import GROVE
from grove_shell.html.anchors import HtmlAnchorIds, link_to_id
from grove_shell.html.object_diffs import DiffLine, ObjectValuesByRound, without_own_names

NAMES = st.text(st.sampled_from(["a", "b", "-", "/", " ", "<", '"', "\u202e", "\ud800", "é", "#", "%"]), max_size=6)
CLIQUE = Ref(GROVE, "PodClique", "ml", "llama-0-worker")
GUARD = Guard("uid", "1")


def ref(kind: str, namespace: str, name: str, replica: int | None = None) -> Ref:
    return Ref(GROVE, kind, namespace, name, replica)


def written(*actions: Apply | Create | Delete | DropFinalizer | SetStatus) -> list[tuple[DiffLine, ...]]:
    """Return the differences of steps on one object that the input does not have."""
    stored = ObjectValuesByRound(None)
    return [stored.difference_of(Step(StepStage.WORKLOAD, CLIQUE, action, ())) for action in actions]


def frozen(**fields: object) -> FrozenMap:
    return FrozenMap.view_of(fields)


@given(st.lists(st.tuples(st.sampled_from(["Pod", "PodClique"]), NAMES, NAMES), max_size=8))
def test_hp006_ids_are_unique_and_links_lead_to_them(objects: list[tuple[str, str, str]]) -> None:
    refs = {ref(*one) for one in objects}
    anchors = HtmlAnchorIds()
    ids = {one: anchors.id_of(one) for one in sorted(refs, key=lambda one: one.sort_key)}
    assert len(set(ids.values())) == len(refs)
    for one, found in ids.items():
        assert found == anchors.id_of(one)
        assert found
        assert found.isprintable()
        assert " " not in found
        assert not found.startswith("-")
        assert anchors.link_to(one) == link_to_id(found)


def test_hp006_the_name_then_the_namespace_then_the_kind() -> None:
    anchors = HtmlAnchorIds()
    given_refs = [("Pod", "ml", "x"), ("Pod", "other", "x"), ("PodClique", "other", "x"), ("Pod", "ml", "-main")]
    assert [anchors.id_of(ref(*one)) for one in given_refs] == ["x", "other/x", "PodClique/other/x", "ml/-main"]
    assert anchors.id_of(ref("PodCliqueSet", "ml", "llama", 0)) == "llama-0"
    assert anchors.link_to(ref("Pod", "ml", "unknown")) == ""


def test_hp007_each_write_is_compared_with_the_one_before() -> None:
    made, status, again, fields, gone, anew = written(
        Create(frozen(kind="PodClique", spec={"replicas": 1})),
        SetStatus(frozen(readyReplicas=0, replicas=1), GUARD),
        SetStatus(frozen(readyReplicas=1), GUARD),
        Apply(frozen(spec={"replicas": 2}), GUARD),
        Delete(GUARD),
        SetStatus(frozen(readyReplicas=1), GUARD),
    )
    assert made == (("+", "kind: PodClique"), ("+", "spec:"), ("+", "  replicas: 1"))
    assert status == (("+", "status:"), ("+", "  readyReplicas: 0"), ("+", "  replicas: 1"))
    assert again == ((" ", "status:"), ("-", "  readyReplicas: 0"), ("+", "  readyReplicas: 1"))
    assert fields == ((" ", "spec:"), ("-", "  replicas: 1"), ("+", "  replicas: 2"))
    assert gone == ()
    assert anew == (("+", "status:"), ("+", "  readyReplicas: 1"))


def test_hp007_conditions_are_compared_by_type() -> None:
    since = format_time(datetime(2026, 11, 21, tzinfo=UTC))
    breach = {"type": "MinAvailableBreached", "status": "True", "lastTransitionTime": since}
    scheduled = {"type": "PodCliqueScheduled", "status": "True", "lastTransitionTime": since}
    _, changed = written(
        SetStatus(frozen(conditions=[breach, scheduled]), GUARD),
        SetStatus(frozen(conditions=[{**scheduled, "status": "False"}]), GUARD),
    )
    assert [one for one in changed if one.sign != " "] == [("-", '    status: "True"'), ("+", '    status: "False"')]


def test_hp007_a_finalizer() -> None:
    assert written(DropFinalizer("grove.io/x", GUARD)) == [(("-", "finalizer: grove.io/x"),)]


def test_hp007_differences_that_differ_in_names_alone_are_alike() -> None:
    first = (DiffLine("+", "name: llama-0-worker"), DiffLine("+", 'grove.io/x-index: "0"'), DiffLine("+", "uid: 1"))
    second = (DiffLine("+", "name: llama-1-worker"), DiffLine("+", 'grove.io/x-index: "1"'), DiffLine("+", "uid: 2"))
    other = (*second[:2], DiffLine("+", "replicas: 2"))
    assert list(without_own_names(first, "llama")) == list(without_own_names(second, "llama"))
    assert list(without_own_names(first, "llama")) != list(without_own_names(other, "llama"))
    assert list(without_own_names(first, "chat")) != list(without_own_names(second, "chat"))
