"""Values cannot change: every struct and named tuple of the core is immutable, and what it consists of (PL-001)."""

import ast
import dataclasses
import enum
import importlib
import pkgutil
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import msgspec
import pytest
from hypothesis import example, given
from pydantic import BaseModel

import grove_core
from grove_core.areas.gang_termination.design.judge import judge_gang_termination_by_design
from grove_core.areas.gang_termination.field.go_operator_rule_generations import GoOperatorRuleGeneration
from grove_core.areas.gang_termination.field.judge import judge_gang_termination_by_go_operator
from grove_core.in_memory.forecasts import snapshot_of_newly_created_set
from grove_core.kernel.frozen import FrozenDict, FrozenMap
from grove_core.plan.forecast import Forecast, one_round_forecast
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.resources.pod import Pod
from grove_core.snapshot.cluster import IndexedCluster
from grove_core.snapshot.cluster_index import index_cluster
from grove_core.snapshot.snapshot import Snapshot
from grove_core.testing import RandomCluster, cluster_of, clusters
from tests.property.terminating_sets import ENDING


def value_types() -> list[type]:
    """Every struct and named tuple of the core."""
    modules = (
        importlib.import_module(module.name)
        for module in pkgutil.walk_packages(grove_core.__path__, "grove_core.")
        if not module.name.endswith("__main__")
    )
    found = [one for module in modules for one in vars(module).values() if is_value_type(one, module.__name__)]
    return sorted(found, key=lambda kind: (kind.__module__, kind.__qualname__))


def is_value_type(one: object, module: str) -> bool:
    """Whether it is a struct or a named tuple, defined in the module."""
    if not isinstance(one, type) or one.__module__ != module:
        return False
    return issubclass(one, msgspec.Struct) or (issubclass(one, tuple) and hasattr(one, "_fields"))


VALUE_TYPES: Final = value_types()
MUTABLE: Final = {
    "CliqueAdmissionView": "the webhooks' own stores of objects: nothing is copied for an admission",
    "KnownTopologiesForAdmission": "the webhooks' own stores of objects: nothing is copied for an admission",
    **dict.fromkeys(("_Beside", "ManifestToAdmit", "BadField"), "the manifest as it came from the API server"),
    "StoredManifestAfterApply": "a manifest that goes to the API server",
    **dict.fromkeys(("ObjectMetadata", "NewObjectMetadata"), "labels of one manifest, which is read or made at once"),
    **dict.fromkeys(("JudgedSetParts", "GoOperatorSetParts"), "an index of the snapshot that fills as it is asked"),
    **dict.fromkeys(
        ("DecodedContainer", "DecodedPodSpec", "DecodedPodStatus", "MetadataFields", "_StoredMetadata"),
        "fields of a pod while it is read",
    ),
    **dict.fromkeys(("_MetadataFields", "_ObjectFields", "_OwnerFields"), "fields of an object while it is read"),
}
"""Types with parts that can change, with the reason."""
LEAVES: Final = (str, int, bool, float, bytes, type(None), datetime, timedelta, FrozenMap)
CONTAINERS: Final = (tuple, frozenset, FrozenDict)
ROOT: Final = Path(__file__).parents[2]
ASSIGNING: Final = {
    "grove_core/__init__.py": "the class of the package itself, which loads lazily",
    "grove_core/gang_fit.py": "the state of a search",
    "grove_core/resources/pod.py": "the manifest of the first pod of a template, while pods are read",
    "grove_core/testing/invariants/reference_verdicts.py": "verdicts while they are collected",
    "grove_shell/reading/json_checks.py": "the index of a list while JSON is read",
    "grove_shell/simulator/actors/simulated_node_controller.py": "whether a node is unready",
    "grove_shell/simulator/virtual_loop.py": "when a timer is scheduled",
}
NOT_FROZEN: Final = {Pod: "a frozen dataclass would cost a quarter of the time that loading 100,000 pods takes"}


def parts_of(kind: Any) -> Iterator[Any]:
    """The types of the fields of a type, or of its arguments."""
    names = names_of_fields(kind)
    if names:
        hints = typing.get_type_hints(kind)
        yield from (hints[name] for name in names)
    elif isinstance(kind, type) and issubclass(kind, BaseModel):
        yield from (field.annotation for field in kind.model_fields.values())
    elif typing.get_origin(kind) is Annotated:
        yield typing.get_args(kind)[0]
    elif typing.get_origin(kind) is not Callable:
        origin = typing.get_origin(kind)
        yield from (*typing.get_args(kind), *([origin] if names_of_fields(origin) else []))


def names_of_fields(kind: Any) -> tuple[str, ...]:
    """The names of the fields of a struct, a dataclass or a named tuple; none for another type."""
    if dataclasses.is_dataclass(kind):
        return tuple(one.name for one in dataclasses.fields(kind))
    names: tuple[str, ...] = getattr(kind, "__struct_fields__", ())
    return names or getattr(kind, "_fields", ())


def is_immutable(kind: Any) -> bool:
    """Whether values of a type cannot change, if those of its parts cannot."""
    origin = typing.get_origin(kind)
    if origin in {typing.Union, types.UnionType, Annotated, typing.Literal, type, Callable} or kind in {..., Any}:
        return True
    if origin is not None:
        return origin in CONTAINERS or bool(names_of_fields(origin))  # which is looked at by itself
    if isinstance(kind, str) or not isinstance(kind, type):
        return True  # a forward reference, a type variable, or the value of a literal
    if kind in LEAVES or kind in NOT_FROZEN or kind is type or issubclass(kind, enum.Enum) or hasattr(kind, "_fields"):
        return True
    if issubclass(kind, msgspec.Struct):
        return kind.__struct_config__.frozen
    if dataclasses.is_dataclass(kind):
        return bool(kind.__dataclass_params__.frozen)  # type: ignore[attr-defined]  # of every dataclass
    return issubclass(kind, BaseModel) and bool(kind.model_config.get("frozen"))


def assigned_attributes(source: str) -> list[str]:
    """The attributes that are set on anything but ``self``, as ``line: expression``."""
    return [
        f"{node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) != "self"
    ]


def mutable_parts(root: type) -> list[Any]:
    """The types that can change, among a type, those of its fields and theirs; value types among them are left out."""
    found: list[Any] = []
    left: list[Any] = [root]
    while left:
        kind = left.pop()
        if kind not in found and (kind is root or kind not in VALUE_TYPES):
            found.append(kind)
            left.extend(parts_of(kind))
    return [kind for kind in found if not is_immutable(kind)]


@pytest.mark.parametrize("kind", VALUE_TYPES, ids=lambda kind: kind.__name__)
def test_pl001_every_type_is_immutable(kind: type) -> None:
    assert mutable_parts(kind) == [] or kind.__name__ in MUTABLE


def test_pl001_every_type_is_looked_at_and_the_list_of_mutable_ones_is_used() -> None:
    assert {Snapshot, IndexedCluster, Plan, Forecast} < set(VALUE_TYPES)
    assert {kind.__name__ for kind in VALUE_TYPES if mutable_parts(kind)} == MUTABLE.keys()


def test_pl001_a_type_that_can_change_is_found() -> None:
    class Loose(msgspec.Struct, frozen=True):
        names: Mapping[str, int]

    class Open(msgspec.Struct):
        name: str

    class Fixed(NamedTuple):
        names: FrozenDict[str, tuple[int, ...]]
        read: Callable[[str], int]

    assert mutable_parts(Loose) == [Mapping[str, int]]
    assert mutable_parts(Open) == [Open]
    assert mutable_parts(Fixed) == []


@pytest.mark.parametrize("path", sorted((ROOT / "grove_core").rglob("*.py")), ids=lambda path: path.stem)
def test_pl001_the_core_sets_attributes_of_no_value(path: Path) -> None:
    found = assigned_attributes(path.read_text(encoding="utf-8"))
    assert not found or str(path.relative_to(ROOT)) in ASSIGNING, found


@pytest.mark.parametrize("path", sorted((ROOT / "grove_shell").rglob("*.py")), ids=lambda path: path.stem)
def test_pl001_the_shell_sets_no_attribute_of_a_pod(path: Path) -> None:
    names = {field.name for field in dataclasses.fields(Pod)}
    found = [one for one in assigned_attributes(path.read_text(encoding="utf-8")) if one.rpartition(".")[2] in names]
    assert not found or str(path.relative_to(ROOT)) in ASSIGNING, found


def test_pl001_the_list_of_modules_that_set_attributes_is_used() -> None:
    assert all(assigned_attributes((ROOT / path).read_text(encoding="utf-8")) for path in ASSIGNING)
    assert assigned_attributes("pod.ready = False") == ["1: pod.ready"]


@given(clusters())
def test_pl001_snapshots_and_plans_have_a_hash(generated: RandomCluster) -> None:
    snapshot = generated.snapshot
    plan = reconcile(snapshot)
    assert hash(snapshot) == hash(generated.cluster.snapshot_of(generated.root, generated.now))
    assert hash(plan) == hash(reconcile(snapshot))
    assert hash(one_round_forecast(plan, snapshot.now)) == hash(one_round_forecast(plan, snapshot.now))
    for name in ("pods_of", "claim_templates", "named_domains", "named_claims", "foreign_owners", "topologies"):
        assert isinstance(getattr(snapshot, name), FrozenDict)
    assert all(isinstance(pods, tuple) for pods in snapshot.pods_of.values())
    created = snapshot_of_newly_created_set(snapshot)
    assert hash(created) == hash(snapshot_of_newly_created_set(snapshot))


@given(clusters())
@example(cluster_of(ENDING))
def test_pl001_judgements_have_a_hash(generated: RandomCluster) -> None:
    seen = generated.snapshot
    assert hash(judge_gang_termination_by_design(seen)) == hash(judge_gang_termination_by_design(seen))
    for generation in GoOperatorRuleGeneration:
        assert hash(judge_gang_termination_by_go_operator(seen, generation)) == hash(
            judge_gang_termination_by_go_operator(seen, generation)
        )


@given(clusters())
def test_pl001_a_cluster_has_a_hash_and_cannot_change(generated: RandomCluster) -> None:
    def made() -> IndexedCluster:
        return index_cluster(
            sets=(generated.root,), groups=generated.groups, cliques=generated.cliques, pods=generated.pods
        )

    assert hash(made()) == hash(made())
    with pytest.raises(TypeError, match="cannot change"):
        made().pods_of["x"] = ()
    with pytest.raises(TypeError, match="cannot change"):
        made().cliques_of.clear()
