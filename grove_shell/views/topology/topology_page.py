"""Pages of ``grove topology list`` and ``grove topology impact``."""

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from grove_core.areas.topology.usage_report import SetUsingTopology, TopologyDeletionState, TopologyUsage
from grove_core.kernel.admission import AdmissionVerdict, AdmissionWarning, DenialReason, Deny
from grove_core.kernel.decisions import Decision
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.reconcile_topology import GangTopologyChange, SetTopologyImpact
from grove_core.resources.api_names import TOPOLOGY_FINALIZER
from grove_core.resources.cluster_topology import ClusterTopology, Levels
from grove_shell.styled_text_page import Span, StyledTextPage
from grove_shell.views.formatting import count_with_noun, join_names_with_commas, rule_citation

_MOST: Final = 8
_BY_DEFAULT: Final = " (default)"
_MISSING: Final = " (missing)"
_ADD_SETS: Final = ": add those of all namespaces, kubectl get pcs,pcsg,pclq -A -o yaml"
_STATES: Final[Mapping[TopologyDeletionState, Span]] = MappingProxyType(
    {
        TopologyDeletionState.HELD: ("held", "bold yellow"),
        TopologyDeletionState.FREE: ("free", "bold green"),
        TopologyDeletionState.UNKNOWN: ("not known", "bold magenta"),
        TopologyDeletionState.LEAVING: ("being deleted", "bold yellow"),
        TopologyDeletionState.MISSING: ("missing", "bold red"),
    }
)
_FATES: Final[Mapping[GangTopologyChange, tuple[str, str]]] = MappingProxyType(
    {
        GangTopologyChange.FOLLOWS: ("FOLLOWS", "bold yellow"),
        GangTopologyChange.STAYS: ("STAYS", "bold magenta"),
        GangTopologyChange.SAME: ("SAME", "green"),
        GangTopologyChange.WAITS: ("WAITS", "bold red"),
        GangTopologyChange.MADE: ("MADE", "yellow"),
        GangTopologyChange.UNKNOWN: ("UNKNOWN", "bold magenta"),
    }
)


class TopologyChangeImpact(NamedTuple):
    """What a change or a deletion of a topology would affect.

    Attributes:
        one: the topology with its users.
        before: the topology as it is; None where it is missing.
        after: the topology as it would be; None where it would be deleted, or is malformed.
        decision: the decision of admission; None where no webhook would be asked (TP-127).
        sets: what changes for the gangs of its users; empty where it would be deleted.
        again: whether the operator creates it again after a deletion (TP-050).
    """

    one: TopologyUsage
    before: ClusterTopology | None
    after: ClusterTopology | None
    decision: Decision[AdmissionVerdict] | None
    sets: tuple[SetTopologyImpact, ...]
    again: bool

    @property
    def objections(self) -> tuple[DenialReason, ...]:
        """The objections of admission."""
        verdict = self.decision.verdict if self.decision is not None else None
        return verdict.objections if isinstance(verdict, Deny) else ()

    @property
    def warnings(self) -> tuple[AdmissionWarning, ...]:
        """The warnings of admission."""
        return self.decision.verdict.warnings if self.decision is not None else ()

    @property
    def is_refused(self) -> bool:
        """Whether admission refuses it."""
        return bool(self.objections)

    @property
    def is_unknown(self) -> bool:
        """Whether sets that are not in the input may be affected (TP-121)."""
        if not self.one.users_are_known:
            return True
        counted = self.after is not None and self.before is not None and self.before.levels != self.after.levels
        return counted and self.one.locked is None


class PlacementsOfSets(NamedTuple):
    """Whether pods stand where the required topology constraints of their sets want them.

    Attributes:
        misplaced: address of a set -> a reason for each broken constraint (TP-131).
        unknown: the sets of which a pod is on a node that is not in the input.
    """

    misplaced: Mapping[Ref, tuple[Reason, ...]] = MappingProxyType({})
    unknown: frozenset[Ref] = frozenset()

    def reasons_for_user(self, user: SetUsingTopology) -> tuple[Reason, ...]:
        """Return the reasons for one user of a topology."""
        return next((why for ref, why in self.misplaced.items() if _is_set(ref, user)), ())

    def is_unknown_for_user(self, user: SetUsingTopology) -> bool:
        """Whether the input does not show if the constraints of one user of a topology are kept."""
        return any(_is_set(ref, user) for ref in self.unknown)


NO_PLACEMENTS: Final = PlacementsOfSets()


def _is_set(ref: Ref, user: SetUsingTopology) -> bool:
    return (ref.namespace, ref.name) == (user.namespace, user.name)


def topology_list_page(
    usages: Iterable[TopologyUsage],
    without: int,
    unknown: Collection[str] = (),
    placements: PlacementsOfSets = NO_PLACEMENTS,
    *,
    is_unapplied: bool = False,
) -> StyledTextPage:
    """Return the page of ``grove topology list``: one line a set, one paragraph a topology (TP-121).

    Args:
        placements: whether pods stand where they have to (CL-081).
        is_unapplied: whether every set is a manifest that is in no cluster.
    """
    page, found = StyledTextPage(), tuple(usages)
    rows = [
        (
            f"{one.name}{_mark(one, user)}",
            f"{user.namespace}/{user.name}",
            "a manifest" if is_unapplied else _bound(user),
        )
        for one in found
        for user in sorted(one.users, key=lambda user: (user.by_default, user))
    ]
    if rows:
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            page.add_line("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
    elif "PodCliqueSet" in unknown:
        page.add_line((f"which PodCliqueSets use a topology is not known{_ADD_SETS}", "bold magenta"))
    else:
        page.add_line(("no PodCliqueSet uses a topology", "bold"))
    if without:
        page.add_line(
            (f"{count_with_noun(without, 'PodCliqueSet')} without any constraint: no topology applies", "dim")
        )
    for one in found:
        page.add_line()
        _paragraph(page, one, is_unapplied=is_unapplied)
        _placements(page, one, placements)
    return page


def _placements(page: StyledTextPage, one: TopologyUsage, placements: PlacementsOfSets) -> None:
    for user in one.users:
        for why in placements.reasons_for_user(user):
            page.add_line(
                ("  misplaced: ", "bold red"),
                f"{user.namespace}/{user.name}: {why.subject.kind} {why.subject.name}: {why.sentence}",
                rule_citation(why),
            )
    if names := [f"{user.namespace}/{user.name}" for user in one.users if placements.is_unknown_for_user(user)]:
        page.add_line(
            f"  whether the pods of {join_names_with_commas(names, _MOST)} stand where they have to is not known: add"
            " the nodes, kubectl get nodes -o json"
        )


def _paragraph(page: StyledTextPage, one: TopologyUsage, *, is_unapplied: bool) -> None:
    page.add_line((one.name, "bold"), "  ", _STATES[one.state])
    if one.levels:
        page.add_line(f"  levels: {_path(one.levels)}")
    for reason in one.because:
        page.add_line(f"  {reason.sentence}", rule_citation(reason))
    for reason in one.lock:
        its = "" if one.not_validated is not None else "its levels "
        page.add_line(f"  {its}{reason.sentence}", rule_citation(reason))
    if one.state is TopologyDeletionState.HELD and not one.has_finalizer:
        page.add_line((f"  it has no finalizer {TOPOLOGY_FINALIZER} yet: a deletion would not wait", "yellow"))
    if one.locked is None:
        kinds = " and ".join(f"{kind}s" for kind in one.not_collected) or "PodCliques"
        why = "only manifests were read, nothing of a cluster" if is_unapplied else f"{kinds} were not collected"
        page.add_line((f"  whether its levels are locked is not known: {why}", "bold magenta"))


def topology_impact_page(impact: TopologyChangeImpact) -> StyledTextPage:
    """Return the page of ``grove topology impact``: the decision of admission, then each set (TP-123)."""
    page, one = StyledTextPage(), impact.one
    word = ("refused", "bold red") if impact.is_refused else ("admitted", "bold green")
    word = ("not validated", "bold yellow") if impact.decision is None else word
    page.add_line((one.name, "bold"), f" {_act(impact)}: ", word)
    if impact.after is not None:
        if impact.before is not None:
            page.add_line(f"  from {_path(impact.before.levels)}")
        page.add_line(f"  to   {_path(impact.after.levels)}")
    if impact.decision is None and one.not_validated is not None:
        page.add_line(f"  {one.not_validated.sentence}", rule_citation(one.not_validated))
    for objection in impact.objections:
        page.add_line("  ", str(objection), rule_citation(objection.reason))
    for warning in impact.warnings:
        page.add_line("  ", ("warning: ", "yellow"), str(warning), rule_citation(warning.reason))
    if impact.after is not None:
        _change(page, impact)
    elif not impact.is_refused and impact.before is not None:
        _deletion(page, one, impact.before, again=impact.again)
    return page


def _act(impact: TopologyChangeImpact) -> str:
    if impact.after is None:
        return "changed" if impact.is_refused else "deleted"
    if impact.before is None:
        return "created"
    return "with the levels that it has" if impact.before.levels == impact.after.levels else "changed"


def _deletion(page: StyledTextPage, one: TopologyUsage, before: ClusterTopology, *, again: bool) -> None:
    for reason in one.because[:1]:
        page.add_line("  ", reason.sentence, rule_citation(reason))
    others = sorted(name for name in before.finalizers if name != TOPOLOGY_FINALIZER)
    afterwards = ", and the operator creates it again as configured" if again else ""
    if one.users and one.has_finalizer and not one.drops_finalizer:
        page.add_line("  it stays until the last of these sets is deleted; until then nothing changes for them:")
        _users(page, one)
        page.add_line("  no other set may start to use it")
    elif not one.users_are_known and one.has_finalizer and not one.drops_finalizer:
        page.add_line(
            (f"  whether it is deleted is not known, because it stays while it is used{_ADD_SETS}", "bold magenta")
        )
    else:
        waits = f"once its finalizers are removed ({', '.join(others)})" if others else "at once"
        page.add_line(f"  it is deleted {waits}", afterwards)
        if one.users and not one.has_finalizer:
            page.add_line((f"  it has no finalizer {TOPOLOGY_FINALIZER}, so the deletion does not wait", "yellow"))
        if not one.users_are_known:
            page.add_line((f"  which sets would lose it is not known{_ADD_SETS}", "bold magenta"))
        elif one.users:
            page.add_line("  these sets would lose it:" if not again else "  these sets use it:")
            _users(page, one)


def _users(page: StyledTextPage, one: TopologyUsage) -> None:
    for user in one.users:
        how = f"  {_how(by_default=user.by_default)}, {_bound(user)}"
        page.add_line(f"    {user.namespace}/{user.name}", (how, "dim"))


def _change(page: StyledTextPage, impact: TopologyChangeImpact) -> None:
    bound = {(user.namespace, user.name): user for user in impact.one.users}
    if not impact.one.users_are_known:
        page.add_line((f"  which{' other' * bool(impact.sets)} sets use it is not known{_ADD_SETS}", "bold magenta"))
    elif not impact.sets:
        page.add_line("  no PodCliqueSet uses it")
    elif impact.is_refused:
        page.add_line(("  nothing changes; if the change were made anyway:", "dim"))
    elif impact.one.locked is None:
        page.add_line(("  which sets have bound pods is not known: PodCliques were not collected", "bold magenta"))
    for one in impact.sets:
        user = bound[one.root.namespace, one.root.name]
        page.add_line(
            (f"  {one.root.namespace}/{one.root.name}", "bold"),
            f"  {_how(by_default=one.by_default)}, {_bound(user)}",
        )
        for fate, (word, style) in _FATES.items():
            gangs = [gang for gang in one.gangs if gang.change is fate]
            if gangs:
                names = join_names_with_commas([gang.name for gang in gangs], _MOST)
                page.add_line("    ", (f"{word:<8}", style), f" {names}")
                for reason in gangs[0].because:
                    page.add_line(f"             {reason.sentence}", rule_citation(reason))


def _mark(one: TopologyUsage, user: SetUsingTopology) -> str:
    """Return the mark behind the name of a topology: that it is missing, that it is used by default."""
    missing = _MISSING if one.state is TopologyDeletionState.MISSING else ""
    return missing + (_BY_DEFAULT if user.by_default else "")


def _path(levels: Levels) -> str:
    return " > ".join(f"{level.domain} ({level.key})" for level in levels)


def _how(*, by_default: bool) -> str:
    return "by default" if by_default else "by name"


def _bound(user: SetUsingTopology) -> str:
    return "bound pods not known" if user.bound is None else f"{count_with_noun(user.bound, 'pod')} bound"
