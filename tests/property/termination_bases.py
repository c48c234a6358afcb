"""Bases of gang terminations for steps that tests write by hand."""

from datetime import UTC, datetime

from grove_core.kernel.gang_terminations import GangTermination, TerminationBasis
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.wants import TerminationDeletion
from grove_core.resources.api_names import GROVE

_REPLICA = Ref(GROVE, "PodCliqueSet", "ml", "llm", 0)
_ENDED = datetime(2026, 11, 20, 9, tzinfo=UTC)


def basis_of(*causes: tuple[Ref, Guard]) -> TerminationBasis | None:
    """Return the basis of a termination of replica 0 of the set ``ml/llm`` for some causes; None without causes."""
    return TerminationBasis(causes, (GangTermination(_REPLICA, causes[0][0], _ENDED),)) if causes else None


def termination_deletion_for(*causes: tuple[Ref, Guard], is_cause: bool = False) -> TerminationDeletion | None:
    """Return what makes a deletion a part of that termination; None without causes."""
    basis = basis_of(*causes)
    return None if basis is None else TerminationDeletion(basis, is_cause=is_cause)
