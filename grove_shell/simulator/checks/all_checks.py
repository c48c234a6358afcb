"""All checks of one run, in the order in which they are asked."""

from collections.abc import Mapping
from datetime import datetime

from grove_core.kernel.admission import Deny
from grove_core.kernel.reasons import Reason
from grove_core.kernel.steps import Attempt
from grove_core.plan.plan import Plan
from grove_core.resources.configuration import Configuration
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.simulator.checks.admission import Admitted
from grove_shell.simulator.checks.at_rest import NothingLeft, Whole
from grove_shell.simulator.checks.check import Check, Manifest, Truth
from grove_shell.simulator.checks.compute_domains import Domains
from grove_shell.simulator.checks.domain_claims import Channels, look_at_rest
from grove_shell.simulator.checks.gang_termination import Terminations
from grove_shell.simulator.checks.gang_topology import Gangs
from grove_shell.simulator.checks.pods import CountOfPods, Deletions, Gates
from grove_shell.simulator.checks.shared_domains import Sharing
from grove_shell.simulator.checks.topology_lifecycle import Keeping
from grove_shell.simulator.checks.topology_references import References
from grove_shell.simulator.checks.writes import Writes
from grove_shell.simulator.cluster.changes import Change
from grove_shell.simulator.cluster.nodes import Node
from grove_shell.simulator.cluster.simulated_cluster import Cluster
from grove_shell.simulator.cluster.topologies import Sight, kept_in, moment_in
from grove_shell.simulator.operator.informers import Informers
from grove_shell.simulator.operator.simulated_operator import Operator
from grove_shell.simulator.recording.history import Actor
from grove_shell.simulator.virtual_time import moment_of

_CHECKS = (
    CountOfPods,
    Deletions,
    Gates,
    Channels,
    Sharing,
    Admitted,
    Writes,
    Terminations,
    References,
    Keeping,
    Gangs,
    NothingLeft,
    Whole,
)


class Checks:
    """Follows the operators, and listens to the cluster; raises Violated at the first promise that is broken."""

    def __init__(
        self, cluster: Cluster, nodes: Mapping[str, Node], start: datetime, *, gang_aware: bool = True
    ) -> None:
        self.truth = Truth(cluster, nodes, start, gang_aware)
        self.domains = Domains(self.truth)
        self.checks: tuple[Check, ...] = (self.domains, *(check(self.truth) for check in _CHECKS))

    def hear(self, changes: list[Change]) -> None:
        """The cluster changed."""
        self.truth.take(changes)
        for check in self.checks:
            check.hear(changes)

    def planned(self, actor: Actor, seen: Sight, plan: Plan) -> None:
        """A plan was made."""
        if not plan.steps or not isinstance(seen, Snapshot):
            return
        self.truth.plans.append((seen, self.truth.now))
        for check in self.checks:
            check.planned(actor, seen, plan)

    def wrote(self, actor: Actor, seen: Sight, attempt: Attempt) -> None:
        """A step was tried."""
        for check in self.checks:
            if isinstance(seen, Snapshot):
                check.wrote(actor, seen, attempt)
            else:
                check.kept(actor, seen, attempt)

    def began(self, actor: Actor, configuration: Configuration, objection: Reason | None) -> None:
        """An operator process began, or ended before its first look."""
        for check in self.checks:
            check.began(actor, configuration, goes_on=objection is None)

    def asked(self, new: Manifest, old: Manifest | None, stored: Manifest | Deny) -> None:
        """A user wrote a set."""
        for check in self.checks:
            check.asked(new, old, stored)

    def crashed(self, actor: Actor, writes: int) -> None:
        """An operator ended; that is allowed."""

    def at_rest(self, operator: Operator) -> None:
        """Nothing is left to happen: the promises about that, and a further look must do nothing (O2)."""
        for check in self.checks:
            check.at_rest()
        look_at_rest(self.domains, operator.configuration)
        informers = Informers(operator.cluster, 0)
        informers.view.configuration = operator.configuration
        clock = moment_of(operator.start, self.truth.now)
        snapshots = (informers.view.observe(root, clock) for root in informers.view.roots())
        plans = [operator.decide(snapshot) for snapshot in snapshots if snapshot is not None]
        moments = (moment_in(informers.view, root.name, clock, ()) for root in kept_in(informers.view))
        plans += [operator.keep(moment) for moment in moments]
        for steps in (plan.steps for plan in plans):
            if steps:
                short = ", ".join(f"{type(step.action).__name__} {step.target.short}" for step in steps[:3])
                self.truth.fail(
                    "O2", f"at rest another look would write: {short}", *(s.target.short for s in steps[:3])
                )
