"""``grove explain`` for people and programs: the object, its verdicts, the chain below it, the pods in trouble."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from grove_core.document import reason_as_json, ref_as_json
from grove_core.explain import first_guards
from grove_core.kernel.decisions import Finding
from grove_core.kernel.refs import Ref
from grove_core.plan.plan import Plan
from grove_core.resources.keys import CORE, GROVE, SCHEDULER
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.views.page import Page
from grove_shell.views.words import clock, distance, plural

_MANY: Final = 20


@dataclass(frozen=True, slots=True)
class Answer:
    """One object of one root, with the plan that speaks of it."""

    snapshot: Snapshot
    plan: Plan
    kind: str
    name: str

    @property
    def ref(self) -> Ref:
        """The object's address."""
        version = {"Pod": CORE, "PodGang": SCHEDULER}.get(self.kind, GROVE)
        return Ref(version, self.kind, self.snapshot.root.ref.namespace, self.name)

    @property
    def cliques(self) -> tuple[PodClique, ...]:
        """The cliques the object stands for: itself, its members, or the one a pod belongs to."""
        snapshot = self.snapshot
        match self.kind:
            case "PodClique":
                return tuple(clique for clique in snapshot.cliques if clique.ref.name == self.name)
            case "PodCliqueScalingGroup":
                uids = {group.meta.uid for group in snapshot.groups if group.ref.name == self.name}
                return tuple(clique for clique in snapshot.cliques if clique.meta.owner_uid in uids)
            case "PodGang":
                named = {group.name for gang in snapshot.gangs if gang.ref.name == self.name for group in gang.groups}
                return tuple(clique for clique in snapshot.cliques if clique.ref.name in named)
            case "Pod":
                return tuple(clique for clique, pod in snapshot.pods() if pod.name == self.name)
            case _:
                return snapshot.cliques

    @property
    def chain(self) -> tuple[Ref, ...]:
        """The object and what stands above it, up to the root: whoever may end it."""
        root = self.snapshot.root.ref
        refs = [self.ref] if self.kind != "PodCliqueSet" else []
        if self.kind in {"Pod", "PodClique"}:
            for clique in self.cliques[:1]:
                refs = [*refs, clique.ref] if self.kind == "Pod" else refs
                owner = clique.meta
                if owner.owner_kind == "PodCliqueScalingGroup":
                    refs.append(Ref(GROVE, owner.owner_kind, root.namespace, owner.owner_name))
        return (*refs, root)

    def findings(self) -> Iterator[Finding]:
        """The verdicts on the object and on everything above it."""
        chain = set(self.chain)
        replicas = _replicas_of(self)
        for finding in self.plan.findings:
            whole = Ref(*(getattr(finding.subject, name) for name in ("api_version", "kind", "namespace", "name")))
            if whole in chain and (finding.subject.replica is None or _concerns(finding.subject, replicas)):
                yield finding

    def guards(self) -> tuple[Finding, ...]:
        """What decides whether the object is ended, nearest first."""
        return tuple(
            finding
            for ref in self.chain
            for finding in first_guards(self.plan.findings, ref)
            if finding.subject.replica is None or _concerns(finding.subject, _replicas_of(self))
        )


def explain_page(answers: list[Answer], *, only_guards: bool) -> Page:
    """The page; ``only_guards`` answers ``--why-not terminate`` and nothing else."""
    page = Page()
    for answer in answers:
        if page.lines:
            page.add()
        page.add((f"{answer.kind} {answer.ref.namespace}/{answer.name}", "bold"))
        if only_guards:
            _guards(page, answer)
        else:
            _whole(page, answer)
    return page


def answer_as_json(answer: Answer, *, only_guards: bool) -> dict[str, Any]:
    """The same as data."""
    findings = answer.guards() if only_guards else answer.findings()
    shown: dict[str, Any] = {
        "subject": ref_as_json(answer.ref),
        "decisions": [
            {
                "subject": ref_as_json(finding.subject),
                "question": finding.question,
                "verdict": finding.verdict,
                "because": [reason_as_json(reason) for reason in finding.because],
            }
            for finding in findings
        ],
    }
    if not only_guards:
        shown["pods"] = [
            {"name": pod.name, "clique": clique.ref.name, "ready": pod.ready, "scheduled": pod.scheduled,
             "terminating": pod.deleting, "node": pod.node, "trouble": pod.trouble}
            for clique in answer.cliques
            for pod in _pods(answer, clique)
        ]
    return shown


def _whole(page: Page, answer: Answer) -> None:
    now = answer.snapshot.now
    for finding in answer.findings():
        page.add(f"  {finding.question}: ", (finding.verdict, "bold"), f"  {finding.subject.short}")
        for reason in finding.because:
            rule = reason.rule
            where = "" if reason.subject == finding.subject else f"{reason.subject.short}: "
            page.add(f"    {where}{reason.sentence}", (f"  {rule.code} {rule.requirement}", "dim"))
    for clique in answer.cliques:
        _clique(page, answer, clique)
    if answer.plan.wake_at is not None:
        page.add(f"  the next clock ends at {clock(answer.plan.wake_at, now)} ({distance(answer.plan.wake_at, now)})")


def _clique(page: Page, answer: Answer, clique: PodClique) -> None:
    pods = _pods(answer, clique)
    ready = sum(pod.ready for pod in pods)
    text = f"  {clique.ref.name}: {ready} of {plural(len(pods), 'pod')} ready, at least {clique.min_available} needed"
    page.add(text + (", being deleted" if clique.meta.deleting else ""))
    troubled = [pod for pod in pods if not pod.ready]
    for pod in troubled[:_MANY]:
        what = pod.trouble or ("gated" if pod.gated else "starting" if pod.scheduled else "not scheduled")
        leaving = ", terminating" if pod.deleting else ""
        page.add(f"    {pod.name}: {what}{leaving}" + (f" on {pod.node}" if pod.node else ""))
    if len(troubled) > _MANY:
        page.add(f"    and {len(troubled) - _MANY:,} more")


def _guards(page: Page, answer: Answer) -> None:
    guards = answer.guards()
    if not guards:
        page.add("  is not judged on its own, and nothing above it is")
    for finding in guards:
        ended = finding.verdict == "Terminate"
        page.add(
            f"  {finding.subject.short}: ",
            ("it IS terminated" if ended else f"not terminated: {finding.verdict}", "bold red" if ended else "bold"),
        )
        for reason in finding.because:
            rule = reason.rule
            where = "" if reason.subject == finding.subject else f"{reason.subject.short}: "
            page.add(f"    {where}{reason.sentence}", (f"  {rule.code} {rule.requirement}", "dim"))


def _pods(answer: Answer, clique: PodClique) -> list[Pod]:
    pods = sorted(answer.snapshot.pods_of.get(clique.meta.uid, ()), key=lambda pod: pod.name)
    return [pod for pod in pods if pod.name == answer.name] if answer.kind == "Pod" else pods


def _replicas_of(answer: Answer) -> set[tuple[str, int]]:
    """(owner name, replica index) that the object lies in; empty where it is the whole root."""
    if answer.kind == "PodCliqueSet":
        return set()
    found: set[tuple[str, int]] = set()
    for clique in answer.cliques:
        found.add((answer.snapshot.root.ref.name, clique.replica_index))
        if clique.group_replica_index >= 0 and answer.kind != "PodCliqueScalingGroup":
            found.add((clique.meta.owner_name, clique.group_replica_index))
    return found


def _concerns(subject: Ref, replicas: set[tuple[str, int]]) -> bool:
    """Whether a replica is one that the object lies in; every one is, for the whole root or group."""
    same_owner = {index for name, index in replicas if name == subject.name}
    return not same_owner or subject.replica in same_owner
