"""Reads policy files: every policy, compiled, or every problem with its place (PO-001)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import ValidationError

from grove_core.kernel.errors import ProblemKind
from grove_core.kernel.structs import replace
from grove_core.resources.json_field_reader import short_json
from grove_core.resources.naming_rules import most_similar_name
from grove_core.rule_sets.rule_set_names import full_rule_set_name
from grove_shell.policies.expressions import CompiledExpression, ExpressionCompiler
from grove_shell.policies.policy import (
    NamedExpression,
    Policy,
    PolicyExample,
    PolicyRule,
    PolicySubjectKind,
)
from grove_shell.policies.policy_format import POLICY_KIND, PolicyInFile
from grove_shell.policies.policy_input import PLAN_FIELDS, SET_FIELDS
from grove_shell.policies.policy_results import PolicyAction
from grove_shell.policies.ready_policies import ready_policy_names
from grove_shell.reading.input_faults import NO_SUCH_FILE, InputFault
from grove_shell.reading.input_items import InputItem, item_problem_as_fault, object_name_in_faults
from grove_shell.reading.input_sources import input_items_in_path, standard_input_bytes
from grove_shell.settings.shared_settings import field_names_at

_FIELDS: Final[Mapping[PolicySubjectKind, tuple[str, ...]]] = {
    PolicySubjectKind.SET: SET_FIELDS,
    PolicySubjectKind.PLAN: PLAN_FIELDS,
}
_HINTS: Final[Mapping[PolicySubjectKind, Mapping[str, str]]] = {
    PolicySubjectKind.SET: {"plan": "known only with forEach: plan"},
    PolicySubjectKind.PLAN: {"set": "known only with forEach: set; the sets are plan.sets"},
}
_EXPECTED: Final[Mapping[str, str]] = {
    "string_too_short": "a text",
    "string_type": "a text",
    "too_short": "at least one item",
    "too_long": "at most 100 items",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}
AUTO: Final = "auto"
_BOOLEAN: Final = frozenset({"BOOL", "DYN"})
_TEXT: Final = frozenset({"STRING", "DYN"})


def read_policies(paths: Iterable[str]) -> tuple[tuple[Policy, ...], tuple[InputFault, ...]]:
    """Return the policies of files and folders in their order, and every problem; a policy with problems is left out.

    Bad content raises nothing.
    """
    faults: list[InputFault] = []
    found: list[Policy] = []
    for path in dict.fromkeys(paths):
        before, count = len(faults), 0
        for item in input_items_in_path(path, faults, standard_input_bytes()):
            count += 1
            found.extend(_read_item(item, faults))
        if not count:
            faults[before:] = map(_with_ready_policy_hint, faults[before:])
        if not count and len(faults) == before:
            faults.append(InputFault(file=path, expected=f"a {POLICY_KIND}", got="nothing"))
    faults += _repeated_policy_names(found)
    return tuple(found), tuple(faults)


def policies_of_objects(
    objects: Iterable[Mapping[str, Any]], file: str
) -> tuple[tuple[Policy, ...], tuple[InputFault, ...]]:
    """Return the policies of a list in a file of another kind, and every problem, as :func:`read_policies` does."""
    faults: list[InputFault] = []
    found = [
        one for index, raw in enumerate(objects) for one in _read_item(InputItem(file, 1, index, dict(raw)), faults)
    ]
    faults += _repeated_policy_names(found)
    return tuple(found), tuple(faults)


def _read_item(item: InputItem, faults: list[InputFault]) -> tuple[Policy, ...]:
    reader = _PolicyReader(item)
    policy = reader.read()
    faults.extend(reader.faults)
    return () if policy is None else (policy,)


def _repeated_policy_names(found: Sequence[Policy]) -> Iterator[InputFault]:
    for name, times in Counter(one.name for one in found).items():
        if times > 1:
            places = [one.file for one in found if one.name == name]
            yield InputFault(
                file=places[-1], path="metadata.name", expected="a name that no other policy has", got=f'"{name}"'
            )


def _with_ready_policy_hint(fault: InputFault) -> InputFault:
    """Return the fault; that of a missing file with the name of a ready policy says how to get the file."""
    name = fault.file.rpartition("/")[2].removesuffix(".yaml")
    if fault.got != NO_SUCH_FILE or name not in ready_policy_names():
        return fault
    return replace(fault, got=f"{NO_SUCH_FILE}; grove policy print {name} > {name}.yaml writes the ready policy")


@dataclass(slots=True)
class _PolicyReader:
    """Reads one policy, and collects its problems."""

    item: InputItem
    faults: list[InputFault] = field(default_factory=list)

    def read(self) -> Policy | None:
        """Return the policy; None where it has problems."""
        if (kind := self.item.value.get("kind")) != POLICY_KIND:
            self._note("kind", POLICY_KIND, short_json(kind))
            return None
        try:
            raw = PolicyInFile.model_validate(self.item.value)
        except ValidationError as fault:
            for error in fault.errors(include_url=False):
                if error["type"] != "too_short" or not error["input"]:  # else it counts the items without problems
                    self._note_field(error)
            return None
        subject = PolicySubjectKind(raw.spec.for_each)
        compiler = ExpressionCompiler({subject.value: _FIELDS[subject]}, _HINTS[subject])
        self._note_repeated_names(raw)
        variables = []
        for place, one in enumerate(raw.spec.variables):
            compiled = self._compiled(compiler, one.expression, f"spec.variables[{place}].expression")
            compiler.add_variable(one.name, compiled)
            if compiled is not None:
                variables.append(NamedExpression(one.name, compiled))
        conditions = [
            self._condition(compiler, one.name, one.expression, f"spec.matchConditions[{place}].expression")
            for place, one in enumerate(raw.spec.match_conditions)
        ]
        rules = [self._rule(compiler, raw, place) for place in range(len(raw.spec.rules))]
        examples = tuple(self._examples(raw, subject))
        if self.faults:
            return None
        return Policy(
            name=raw.metadata.name,
            file=self.item.file,
            environment=compiler.environment,
            subject=subject,
            variables=tuple(variables),
            match_conditions=tuple(one for one in conditions if one is not None),
            rules=tuple(one for one in rules if one is not None),
            examples=examples,
        )

    def _note(self, path: str, expected: str, got: str, kind: ProblemKind = ProblemKind.WRONG_VALUE) -> None:
        where = object_name_in_faults(self.item.value, self.item.index)
        self.faults.append(item_problem_as_fault(self.item, where, (path, expected, got), None, kind=kind))

    def _note_field(self, error: Any) -> None:  # noqa: ANN401 - pydantic's
        path = ""
        for step in error["loc"]:
            path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else str(step)
        if error["type"] == "extra_forbidden":
            *outer, name = error["loc"]
            self._note(path, "", f"unknown field {name}{_did_you_mean(str(name), field_names_at(PolicyInFile, outer))}")
        elif error["type"] == "missing":
            self._note(path, "a value", "nothing", ProblemKind.MISSING)
        else:
            words = error["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
            self._note(path, _EXPECTED.get(error["type"], words), short_json(error["input"]))

    def _note_repeated_names(self, raw: PolicyInFile) -> None:
        places = {
            "spec.variables": [one.name for one in raw.spec.variables],
            "spec.matchConditions": [one.name for one in raw.spec.match_conditions],
            "spec.rules": [one.name for one in raw.spec.rules],
            "tests": [one.name for one in raw.tests],
        }
        for place, given in places.items():
            for repeated, times in Counter(given).items():
                if times > 1:
                    self._note(place, "unique names", f'"{repeated}" {times} times')

    def _compiled(self, compiler: ExpressionCompiler, text: str, path: str) -> CompiledExpression | None:
        compiled, problems = compiler.compile(text)
        for problem in problems:
            self._note(f"{path} {problem.line}:{problem.column}", "", problem.text)
        return compiled

    def _condition(self, compiler: ExpressionCompiler, name: str, text: str, path: str) -> NamedExpression | None:
        compiled = self._compiled(compiler, text, path)
        if compiled is None:
            return None
        if compiled.result not in _BOOLEAN:
            self._note(path, "an expression that is true or false", f"one that gives {compiled.result}")
        return NamedExpression(name, compiled)

    def _rule(self, compiler: ExpressionCompiler, raw: PolicyInFile, place: int) -> PolicyRule | None:
        one, path = raw.spec.rules[place], f"spec.rules[{place}]"
        condition = self._condition(compiler, one.name, one.expression, f"{path}.expression")
        message = None
        if one.message_expression is not None:
            message = self._compiled(compiler, one.message_expression, f"{path}.messageExpression")
            if message is not None and message.result not in _TEXT:
                self._note(f"{path}.messageExpression", "an expression that gives a text", f"one of {message.result}")
        if condition is None:
            return None
        return PolicyRule(
            name=one.name,
            expression=condition.expression,
            message=one.message or f"failed expression: {' '.join(one.expression.split())}",
            message_expression=message,
            action=PolicyAction(one.action),
        )

    def _examples(self, raw: PolicyInFile, subject: PolicySubjectKind) -> Iterator[PolicyExample]:
        known = [one.name for one in raw.spec.rules]
        for place, one in enumerate(raw.tests):
            path = f"tests[{place}]"
            for which, names in (("violates", one.violates), ("undecided", one.undecided)):
                for name in names:
                    if name not in known:
                        expected = f"a rule of the policy{_did_you_mean(name, known)}"
                        self._note(f"{path}.{which}", expected, f'"{name}"')
            given = one.given.model_dump(exclude_none=True)
            self._check_given(given, subject, f"{path}.given")
            yield PolicyExample(
                name=one.name, given=given, violates=frozenset(one.violates), undecided=frozenset(one.undecided)
            )

    def _check_given(self, given: Mapping[str, Any], subject: PolicySubjectKind, path: str) -> None:
        other = next(kind for kind in PolicySubjectKind if kind is not subject).value
        if other in given:
            self._note(f"{path}.{other}", f"{subject.value} or files, as forEach is {subject.value}", other)
        for name in given.get(subject.value) or ():
            if name not in _FIELDS[subject]:
                hint = _did_you_mean(name, _FIELDS[subject])
                self._note(f"{path}.{subject.value}.{name}", "", f"unknown field {name}{hint}")
        try:
            if (name := given.get("rules", AUTO)) != AUTO:
                full_rule_set_name(name)
        except ValueError as fault:
            self._note(f"{path}.rules", str(fault), short_json(given.get("rules")))


def _did_you_mean(name: str, known: Iterable[str]) -> str:
    near = most_similar_name(name, known)
    return f"; did you mean {near}?" if near else ""
