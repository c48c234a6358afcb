"""Interfaces of snapshots: what every decision about a root may look at, whatever kind the root has."""

from collections.abc import Mapping
from typing import Protocol

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt
from grove_core.resources.meta import Resource
from grove_core.resources.pod import Pod


class View(Protocol):
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


class Seen(View, Protocol):
    """A view that also lists its objects, so that steps can be checked against them."""

    def known(self) -> Mapping[Ref, Resource | Pod]:
        """Return every object that a step of this root may target, by address."""
        ...
