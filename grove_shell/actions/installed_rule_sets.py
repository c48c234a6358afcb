"""Rule sets of users: entry points of installed packages, beside the built-in rule sets (LB-010, LB-011)."""

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from traceback import extract_tb
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from grove_core.areas.gang_termination.termination_result import LostNodeResult, TerminationResult
from grove_core.areas.gang_termination.verdicts import SetReplicaFates
from grove_core.areas.scheduling.verdicts import GangBackends
from grove_core.areas.workload.verdicts import WorkloadResult
from grove_core.kernel.decisions import AreaResult
from grove_core.kernel.errors import BrokenInvariant
from grove_core.kernel.structs import replace
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.rule_sets.rule_set_names import full_rule_set_name
from grove_shell.exit_codes import CommandFailed

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP: Final = "grove.rule_sets"
_LONGEST: Final = 300
_RESULTS: Final = MappingProxyType(
    {
        "gang_termination": TerminationResult,
        "replica_fates": SetReplicaFates,
        "lost_nodes": LostNodeResult,
        "gang_backends": GangBackends,
        "workload": WorkloadResult,
        "withholds": AreaResult,
    }
)
"""The functions of a rule set that plans call, and what they return."""
_OURS: Final = frozenset({"grove_core", "grove_shell"})


class InstalledRuleSetFailed(CommandFailed, ValueError):
    """The entry point of a rule set does not load, is no rule set, or raised (LB-011)."""


@dataclass(frozen=True, slots=True)
class RuleSetEntryPoint:
    """An entry point of the group ``grove.rule_sets``.

    Attributes:
        value: the entry point as its package writes it: ``my_rules:careful``.
        package: name and version of its package.
    """

    name: str
    value: str
    package: str

    def failure(self, what: str) -> InstalledRuleSetFailed:
        """Return the error with one sentence."""
        return InstalledRuleSetFailed(
            f"the rule set {self.name!r}, the entry point {self.value} of the package {self.package}, {what}"
        )


def rule_set_entry_points() -> tuple[RuleSetEntryPoint, ...]:
    """Return every entry point of the group, by name; a package that is found twice counts once."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - few commands name one (P11)

    found = {RuleSetEntryPoint(point.name, point.value, _package(point)) for point in entry_points(group=GROUP)}
    return tuple(sorted(found, key=lambda one: (one.name, one.package)))


def _package(point: "EntryPoint") -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else "(unknown)"


def known_rule_set_name(name: str) -> str:
    """Return the full name of a built-in rule set, or the name of an entry point (LB-010).

    Raises:
        ValueError: there is none; the message lists the known ones or suggests one.
    """
    try:
        return full_rule_set_name(name)
    except ValueError as fault:
        installed = [one.name for one in rule_set_entry_points()]
        if name in installed and "@" not in name:
            return name
        near = get_close_matches(name, installed, n=1, cutoff=0.5)
        hint = f'; did you mean "{near[0]}"?' if near else ""
        names = f"; installed: {', '.join(dict.fromkeys(installed))}" if installed else ""
        raise ValueError(f"{fault}{names}{hint}") from None


def rule_set_from_entry_point(name: str) -> RuleSet:
    """Return the rule set of an entry point, under this name.

    Raises:
        InstalledRuleSetFailed: the entry point does not load or is no rule set; also later, where its rule set raises
            while a plan is made.
        ValueError: there is no rule set of this name.
    """
    found = [one for one in rule_set_entry_points() if one.name == name]
    if not found:
        raise ValueError(f"there is no rule set {name!r}")
    if len(found) > 1:
        others = ", ".join(one.package for one in found[1:])
        raise found[0].failure(f"has the same name as that of {others}: uninstall one of them")
    loaded = _loaded(found[0])
    guarded = {
        field: _Guarded(getattr(loaded, field), field, found[0])
        for field in _RESULTS
        if getattr(loaded, field) is not None
    }
    return replace(loaded, name=name, **guarded)  # type: ignore[arg-type]  # each has the signature of what it calls


def _loaded(one: RuleSetEntryPoint) -> RuleSet:
    from importlib.metadata import EntryPoint  # noqa: PLC0415 - as above

    try:
        found = EntryPoint(one.name, one.value, GROUP).load()
        if callable(found) and not isinstance(found, RuleSet):
            found = found()
    except (Exception, SystemExit) as fault:  # a package of a user may raise anything
        raise one.failure(f"does not load: {_described(fault)}") from fault
    if not isinstance(found, RuleSet):
        raise one.failure(
            f"is no RuleSet and no function without arguments that returns one, but {type(found).__name__}"
        )
    return found


class _Guarded:
    """A function of a user's rule set; what it raises becomes one sentence that names the entry point."""

    def __init__(self, function: Callable[..., Any], field: str, one: RuleSetEntryPoint) -> None:
        self._function, self._field, self._one = function, field, one

    def __call__(self, *arguments: Any) -> Any:  # noqa: ANN401 - of the function that is called
        """Call the function. Raises InstalledRuleSetFailed where it raises, or returns something else."""
        try:
            result = self._function(*arguments)
        except BrokenInvariant:
            raise  # a defect of Grove
        except (Exception, SystemExit) as fault:  # a package of a user may raise anything
            raise self._one.failure(f"raised while a plan was made: {_described(fault)}") from fault
        wanted = _RESULTS[self._field]
        if not isinstance(result, wanted):
            got = type(result).__name__
            raise self._one.failure(f"has a function {self._field} that returns {got}, not {wanted.__name__}")
        return result


def _described(fault: BaseException) -> str:
    """Return an error and where the package raised it, in one line."""
    words = " ".join(str(fault).split())
    text = f"{type(fault).__name__}: {words}" if words else type(fault).__name__
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}..."
    frames = [one for one in extract_tb(fault.__traceback__) if _OURS.isdisjoint(Path(one.filename).parts)]
    is_own = (
        frames and not frames[-1].filename.startswith("<frozen") and "importlib" not in Path(frames[-1].filename).parts
    )
    return f"{text} ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if is_own else text
