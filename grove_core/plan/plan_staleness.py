"""Compares a reviewed plan with a plan made now, by what they write and by what they rest on (PL-020)."""

from collections.abc import Iterable, Iterator
from typing import Final, assert_never

from grove_core.kernel.frozen import FrozenMap, Json, canonical_json
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Action, Apply, Create, Delete, DropFinalizer, Ensure, SetStatus, Step
from grove_core.kernel.structs import Struct
from grove_core.resources.api_names import UPDATE_ENDED, UPDATE_STARTED

_MOVING: Final = frozenset({"lastTransitionTime", "observedGeneration", UPDATE_STARTED, UPDATE_ENDED})
_SHOWN: Final = 80


class PlanChange(Struct, frozen=True):
    """One difference from the reviewed plan.

    Attributes:
        what: the part that differs: the step itself, a rule or fact it rests on, or what is written.
        before, now: the reviewed and the current value; empty where there is none.
    """

    target: Ref
    what: str
    before: str
    now: str

    def __str__(self) -> str:
        return f"{self.target.short}: {self.what}: was {self.before or 'nothing'}, is {self.now or 'nothing'}"


def changes_since_reviewed_plan(reviewed: Iterable[Step], fresh: Iterable[Step]) -> tuple[PlanChange, ...]:
    """Return the differences between reviewed steps and the steps of a plan made now.

    Resource versions, times, ``observedGeneration`` and the reasons of status writes are not compared (PL-020).
    """
    before, now = ({step.target: step for step in steps} for steps in (reviewed, fresh))
    found: list[PlanChange] = []
    for target in sorted({*before, *now}, key=lambda ref: ref.sort_key):
        old, new = before.get(target), now.get(target)
        if old is None or new is None or type(old.action) is not type(new.action):
            found.append(PlanChange(target, "step", _shown(old), _shown(new)))
        else:
            found.extend(_within(target, old, new))
    return tuple(found)


def _shown(step: Step | None) -> str:
    return "" if step is None else f"{type(step.action).__name__} ({step.because[0].sentence})"


def _within(target: Ref, old: Step, new: Step) -> Iterator[PlanChange]:
    """What differs between two steps of one kind on one object."""
    if not isinstance(old.action, SetStatus):
        facts = [
            {(reason.rule.code, name): value for reason in step.because for name, value in _facts_of(reason)}
            for step in (old, new)
        ]
        for key in sorted({*facts[0], *facts[1]}):
            values = [one.get(key) for one in facts]
            if values[0] != values[1]:
                yield PlanChange(
                    target, f"{key[0]} {key[1]}", *(str("" if value is None else value) for value in values)
                )
    if _content(old.action) != _content(new.action):
        yield PlanChange(target, "what is written", *(_short(_content(step.action)) for step in (old, new)))


def _facts_of(reason: Reason) -> Iterator[tuple[str, object]]:
    """The rule itself, since some rules have no facts; then its facts."""
    of = f"of {reason.subject.short}"
    yield of, "a reason"
    for name, value in reason.facts:
        yield f"{of}: {name}", value


def _content(action: Action) -> Json:
    """What a step writes, without the resource version it targets and the fields that move by themselves."""
    match action:
        case Create(manifest) | Ensure(manifest):
            return manifest
        case Apply(fields) | SetStatus(fields):
            return _without_moving_fields(fields)
        case Delete(rests_on=rests_on, foreground=foreground, takes=takes):
            impact = () if takes is None else (takes.pods, takes.ready, takes.gpus)
            return (tuple(sorted(ref.short for ref, _ in rests_on)), foreground, impact)
        case DropFinalizer(finalizer):
            return finalizer
        case _:
            assert_never(action)


def _without_moving_fields(value: Json) -> Json:
    if isinstance(value, FrozenMap):
        return FrozenMap({key: _without_moving_fields(item) for key, item in value.items() if key not in _MOVING})
    return tuple(_without_moving_fields(item) for item in value) if isinstance(value, tuple) else value


def _short(value: Json) -> str:
    text = canonical_json(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
