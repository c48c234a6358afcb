"""A daemon without a registry and while it stops; the status of a domain, also while it is deleted."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.areas.domain_cliques.daemon.judge import next_daemon_action
from grove_core.areas.domain_cliques.daemon.registration_protocols import (
    DaemonRegistrationSettings,
    RegistrationProtocol,
)
from grove_core.areas.domain_cliques.daemon.verdicts import (
    ListPodsRequest,
    RemoveEntryRequest,
    StoppedAction,
    WaitAction,
)
from grove_core.areas.domain_cliques.rules import ComputeDomainReason
from grove_core.kernel.structs import replace
from tests.property.domain_cliques.builders import NOW, clique, context_for, domain, entry, planned, pod, status_in

SOON = NOW + timedelta(seconds=5)
WORDS = st.sampled_from(["Ready", "NotReady", ""])


@pytest.mark.parametrize("protocol", list(RegistrationProtocol))
def test_dc012_waits_without_observation(protocol: RegistrationProtocol) -> None:
    decision = next_daemon_action(
        context_for(None, DaemonRegistrationSettings(protocol=protocol), state={"observed": None})
    )
    assert isinstance(decision.verdict, WaitAction)
    assert decision.because[0].rule is ComputeDomainReason.NOTHING_SEEN


@pytest.mark.parametrize("protocol", [protocol for protocol in RegistrationProtocol if not protocol.sharded])
def test_dc013_no_daemon_creates_a_domain(protocol: RegistrationProtocol) -> None:
    decision = next_daemon_action(context_for(None, DaemonRegistrationSettings(protocol=protocol)))
    assert isinstance(decision.verdict, WaitAction)
    assert decision.because[0].rule is ComputeDomainReason.DOMAIN_MISSING


def test_dc051_lists_pods_before_taking_over() -> None:
    registry = clique(entry("n1", 0, ip="10.9.9.9"))
    decision = next_daemon_action(
        context_for(
            registry, DaemonRegistrationSettings(protocol=RegistrationProtocol.SHARDED), state={"other_read_at": NOW}
        )
    )
    assert decision.verdict == ListPodsRequest("10.9.9.9")
    assert decision.because[0].rule is ComputeDomainReason.OTHER_ADDRESS_ON_NODE


@pytest.mark.parametrize("protocol", list(RegistrationProtocol))
@pytest.mark.parametrize(
    ("ip", "passed", "wanted"),
    [
        ("10.0.0.1", timedelta(), ComputeDomainReason.LEAVING),
        ("10.9.9.9", timedelta(), ComputeDomainReason.NOTHING_LEFT),
        ("10.0.0.1", timedelta(seconds=5), ComputeDomainReason.OUT_OF_TIME),
    ],
)
@pytest.mark.req("DC-054")
@pytest.mark.req("DC-057")
def test_dc053_removes_its_entry_until_the_deadline(
    protocol: RegistrationProtocol, ip: str, passed: timedelta, wanted: ComputeDomainReason
) -> None:
    registry = clique(entry("n1", 0, ip=ip)) if protocol.sharded else domain(entry("n1", 0, ip=ip))
    context = context_for(registry, DaemonRegistrationSettings(protocol=protocol), stop_deadline=SOON)
    decision = next_daemon_action(replace(context, now=NOW + passed))
    assert decision.because[0].rule is wanted
    assert isinstance(decision.verdict, StoppedAction) == (wanted is not ComputeDomainReason.LEAVING)
    if protocol.uses_apply and wanted is ComputeDomainReason.LEAVING:
        assert isinstance(decision.verdict, RemoveEntryRequest)


@given(st.lists(WORDS, max_size=4))
@pytest.mark.req("DC-080", "DC-083")
@pytest.mark.req("DC-081", "DC-084")
def test_dc080_ready_with_all_daemons_and_at_least_one(words: list[str]) -> None:
    """The domain needs one node, so it is ready when its only clique is."""
    found = clique(*(entry(f"n{number}", number, status=word) for number, word in enumerate(words)))
    pods = [pod(f"n{number}", f"10.0.0.{number}", name=f"pod-{number}") for number in range(len(words))]
    plan = planned(domain(), [found], pods)
    wanted = "Ready" if words and set(words) == {"Ready"} else "NotReady"
    result = {finding.subject.kind: finding.verdict for finding in plan.findings}
    assert result == {"ComputeDomain": wanted, "ComputeDomainClique": wanted}
    assert status_in(plan)["cliques"] == [{"id": "a", "status": wanted}]


@given(st.lists(WORDS, max_size=3), st.booleans())
def test_dc087_no_write_to_a_deleted_domain(words: list[str], gone: bool) -> None:
    found = clique(*(entry(f"n{number}", number, status=word) for number, word in enumerate(words)))
    pods = [] if gone else [pod(f"n{number}", f"10.0.0.{number}", name=f"pod-{number}") for number in range(len(words))]
    plan = planned(replace(domain(), deleting=True), [found], pods)
    assert plan.steps == ()
    assert [why.rule for finding in plan.findings for why in finding.because] == [
        ComputeDomainReason.DOMAIN_BEING_DELETED
    ]
