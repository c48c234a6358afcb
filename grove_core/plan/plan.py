"""The plan of one root, and what any snapshot of a root offers to make and check one."""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from grove_core.kernel.decisions import Finding
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, Step
from grove_core.kernel.structs import Struct
from grove_core.kernel.wants import Withheld
from grove_core.resources.metadata_readers import Resource
from grove_core.resources.pod import Pod


class RootWithLastAttempts(Protocol):
    """One root and the attempts of its last round."""

    @property
    def root_ref(self) -> Ref:
        """The address of the root."""
        ...

    @property
    def root_uid(self) -> str:
        """The uid of the root; empty where it does not exist yet."""
        ...

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """The steps that were attempted last for this root, with their outcomes."""
        ...


class PlannedRootObjects(RootWithLastAttempts, Protocol):
    """A view that also lists its objects, so that steps can be checked against them."""

    def objects_by_ref(self) -> Mapping[Ref, Resource | Pod]:
        """Return every object that a step of this root may target, by address."""
        ...


class Plan(Struct, frozen=True, kw_only=True):
    """What to do about one root at one time.

    Attributes:
        root, root_uid: the object that is planned for; the uid is empty for a set that is not in a cluster yet.
        rules: name of the rule set; empty where the plan depends on none.
        steps: sorted by stage and target; at most one for each target (PL-013).
        withheld: sorted by target.
        wake_at: the next time at which time alone may change the plan (PL-008); None if never.
        requeue_at: when the operator reconciles again by a short timer of its own, which every forecast waits for; not
            later than ``wake_at``, and None without such a timer (WF-070).
        findings: every verdict, sorted by subject and question.
    """

    root: Ref
    root_uid: str
    rules: str = ""
    steps: tuple[Step, ...] = ()
    withheld: tuple[Withheld, ...] = ()
    wake_at: datetime | None = None
    findings: tuple[Finding, ...] = ()
    requeue_at: datetime | None = None

    @property
    def settled(self) -> bool:
        """Whether the plan has no steps."""
        return not self.steps
