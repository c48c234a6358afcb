"""``grove policy test``: evaluates the examples of policies."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from grove_core.kernel.time_formats import parse_duration, parse_time
from grove_shell.actions.command_input import InputSource, read_command_input
from grove_shell.actions.planned_input import PlanOptions, plan_input
from grove_shell.exit_codes import DONE, FAIL_ON, CommandFailed
from grove_shell.policies.policy import Policy, PolicyExample
from grove_shell.policies.policy_examples import run_policy_examples
from grove_shell.policies.policy_reading import read_policies
from grove_shell.reading.input_faults import InputFault
from grove_shell.views.formatting import NOTHING_CHECKED, input_problems_page
from grove_shell.views.policy_test_page import policy_test_as_json, policy_test_page
from grove_shell.views.renderers import RENDERERS


def run_policy_tests(paths: tuple[str, ...], output: str) -> int:
    """Evaluate the examples of policies, print what they show, and return the exit code (CL-062)."""
    policies, faults = read_policies(paths)
    _fail_if_any(faults)
    planned = _PlannedExamples(policies)
    _fail_if_any(planned.faults)
    results = tuple(run_policy_examples(policy, planned.plan_of) for policy in policies)
    RENDERERS[output].print_result(
        page=lambda: policy_test_page(results), document=lambda: policy_test_as_json(results)
    )
    return DONE if all(result.is_passed for result in results) else FAIL_ON


def _fail_if_any(faults: Iterable[InputFault]) -> None:
    found = tuple(faults)
    if found:
        raise CommandFailed(input_problems_page(found, NOTHING_CHECKED))


class _PlannedExamples:
    """The plans of the files of examples.

    Attributes:
        faults: everything that is wrong with the files.
    """

    def __init__(self, policies: Iterable[Policy]) -> None:
        self.faults: list[InputFault] = []
        self._plans: dict[tuple[str, str], Mapping[str, Any]] = {}
        for policy in policies:
            for example in policy.examples:
                if example.given.get("files"):
                    self._plan(policy, example)

    def plan_of(self, policy: Policy, example: PolicyExample) -> Mapping[str, Any]:
        """Return the plan of the files of an example."""
        return self._plans[policy.name, example.name]

    def _plan(self, policy: Policy, example: PolicyExample) -> None:
        given, folder = example.given, Path(policy.file).parent
        source = InputSource(
            filenames=tuple(str(folder / name) for name in given["files"]), now=parse_time(given["now"])
        )
        inputs = read_command_input(source, given.get("rules"))
        self.faults.extend(inputs.problems)
        if inputs.usable:
            options = PlanOptions(rules=given.get("rules"), until=_span(given.get("until")))
            self._plans[policy.name, example.name] = plan_input(inputs, source, options).for_policies()


def _span(text: str | None) -> timedelta | None:
    return None if text is None else parse_duration(text)
