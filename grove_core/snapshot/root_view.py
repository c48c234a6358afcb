"""What the decision about one root may look at, whatever the root is."""

from collections.abc import Mapping
from typing import Protocol

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt
from grove_core.resources.meta import Resource
from grove_core.resources.pod import Pod


class View(Protocol):
    """One root at one moment."""

    @property
    def root_ref(self) -> Ref:
        """Where the root stands."""
        ...

    @property
    def root_uid(self) -> str:
        """Of the root; empty where there is none yet."""
        ...

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """What was tried for this root lately, and how that was answered."""
        ...


class Seen(View, Protocol):
    """A view that steps can be held against."""

    def known(self) -> Mapping[Ref, Resource | Pod]:
        """Every object that a step of this root may aim at, by address."""
        ...
