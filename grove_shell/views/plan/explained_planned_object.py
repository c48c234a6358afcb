"""Lines of ``grove explain`` about an object that the plan creates: in which round and why, its spec, its gates."""

from collections.abc import Iterable, Iterator
from typing import Final

from grove_core.document.plan_document import step_action_name
from grove_core.kernel.frozen import FrozenMap, Json, canonical_json, list_at, object_under_key
from grove_core.kernel.steps import Make, Step
from grove_core.object_lookup import KINDS_WITHOUT_PODS
from grove_core.plan.forecast import ForecastRound
from grove_core.resources.api_names import GATE
from grove_core.resources.pod_spec_gpus import containers_in, gpu_count_of_pod_spec
from grove_shell.styled_text_page import StyledTextPage
from grove_shell.views.formatting import MAX_NAMES, count_with_noun, join_names_with_commas, rule_citation

_POD_FIELDS: Final = ("schedulerName", "priorityClassName", "nodeSelector", "hostname", "subdomain")
_LONGEST: Final = 300
_METADATA: Final = frozenset({"apiVersion", "kind", "metadata"})
_SCALARS: Final = ("replicas", "minAvailable", "roleName", "startsAfter", "cliqueNames", "priorityClassName")


def add_planned_object_lines(page: StyledTextPage, course: Iterable[tuple[ForecastRound, Step]]) -> None:
    """Add the steps of the plan for an object that does not exist yet, and below its creation what it is made of."""
    for one, step in course:
        action = step.action
        page.add_line(f"  round {one.number}: ", (step_action_name(action), "bold"))
        for reason in step.because:
            page.add_line(f"    {reason.sentence}", rule_citation(reason))
        if isinstance(action, Make):
            lines = _manifest_lines if step.target.kind in KINDS_WITHOUT_PODS else _spec_lines
            for line in lines(step.target.kind, action.manifest):
                page.add_line(f"    {line}")


def _manifest_lines(_: str, manifest: FrozenMap) -> Iterator[str]:
    """Yield a line for each field of an object without pods, for each one of its spec where it has one."""
    for key, value in manifest.items():
        if key == "spec" and isinstance(value, FrozenMap):
            yield from (f"{field}: {_value_text(inner)}" for field, inner in value.items())
        elif key not in _METADATA:
            yield f"{key}: {_value_text(value)}"


def _spec_lines(kind: str, manifest: FrozenMap) -> Iterator[str]:
    spec = object_under_key(manifest, "spec")
    if kind == "Pod":
        yield from _pod_lines(spec)
        return
    for key in _SCALARS:
        if spec.get(key) not in {None, ""}:
            yield f"{key}: {_value_text(spec[key])}"
    if kind == "PodClique":
        yield from _container_lines(object_under_key(spec, "podSpec"))
    for group in list_at(spec, "podgroups"):
        if isinstance(group, FrozenMap):
            pods = count_with_noun(len(list_at(group, "podReferences")), "pod")
            yield f"{group.get('name')}: {pods}, at least {group.get('minReplicas')} placed together{_packed(group)}"
    if packed := _packed(spec):
        yield f"all its pods{packed}"
    for config in list_at(spec, "topologyConstraintGroupConfigs"):
        if isinstance(config, FrozenMap):
            yield f"{_value_text(config.get('podGroupNames'))}{_packed(config)}"


def _pod_lines(spec: FrozenMap) -> Iterator[str]:
    yield from _container_lines(spec)
    for key in _POD_FIELDS:
        if spec.get(key):
            yield f"{key}: {_value_text(spec[key])}"
    gates = [str(one.get("name")) for one in list_at(spec, "schedulingGates") if isinstance(one, FrozenMap)]
    for gate in gates:
        whose = "" if gate == GATE else ", which Grove does not remove"
        yield f"scheduling gate: {gate}{whose}"
    if not gates:
        yield "no scheduling gate: the scheduler may place it at once"


def _container_lines(spec: FrozenMap) -> Iterator[str]:
    for key, word in (("initContainers", "init container"), ("containers", "container")):
        for one in containers_in(spec, key):
            yield f"{word} {one.get('name')}: image {one.get('image', 'none')}"
    if gpus := gpu_count_of_pod_spec(spec):
        yield count_with_noun(gpus, "GPU")


def _packed(holder: FrozenMap) -> str:
    pack = object_under_key(object_under_key(holder, "topologyConstraint"), "packConstraint")
    words = [f"{word} share one value of {pack[key]}" for key, word in _PACKS if pack.get(key)]
    return "".join(f", {one}" for one in words)


_PACKS: Final = (("required", "have to"), ("preferred", "should"))


def _value_text(value: Json) -> str:
    if isinstance(value, tuple) and all(isinstance(one, str) for one in value):
        return join_names_with_commas([str(one) for one in value], MAX_NAMES)
    text = value if isinstance(value, str) else canonical_json(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
