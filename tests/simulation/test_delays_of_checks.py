"""The delay by which a simulation checks a gang termination (GT5, GT6)."""

from datetime import timedelta

import pytest

from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_shell.simulator.checks.gang_termination_check import termination_delay_of_cause
from tests.property.workload.sets import applied, at_rest, clique_raw, set_raw


@pytest.mark.req("GT-030")
def test_gt5_a_cause_has_the_delay_of_its_own_group() -> None:
    """Also where the name of one group ends as that of another, or as that of the set."""
    delays = {"pool": "1h", "b-pool": "2h", "llm": "3h"}
    groups = tuple(
        {"name": name, "cliqueNames": [f"member-{number}"], "terminationDelay": delay}
        for number, (name, delay) in enumerate(delays.items())
    )
    cliques = [clique_raw("alone"), *(clique_raw(f"member-{number}") for number in range(len(groups)))]
    raw = set_raw(*cliques, groups=groups, terminationDelay="4h", meta={"name": "my-llm"})
    seen = at_rest(applied(raw))
    causes: list[PodClique | ScalingGroup] = [*seen.cliques, *seen.groups]
    found = {
        cause.ref.name: timedelta(milliseconds=termination_delay_of_cause(seen.root, cause) or 0) // timedelta(hours=1)
        for cause in causes
    }
    assert found == {
        "my-llm-0-alone": 4,
        "my-llm-0-pool": 1,
        "my-llm-0-pool-0-member-0": 1,
        "my-llm-0-b-pool": 2,
        "my-llm-0-b-pool-0-member-1": 2,
        "my-llm-0-llm": 3,
        "my-llm-0-llm-0-member-2": 3,
    }
