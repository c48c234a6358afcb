"""Explanations of one object: its verdicts, steps and reasons, as ``grove explain`` prints them."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from grove_shell.actions.explain import Explained, explain_input, kind_and_name_of_target, object_explanation_as_json
from grove_shell.library.arguments import require_text_or_none
from grove_shell.library.cluster import Cluster, require_cluster
from grove_shell.library.html_tables import html_page_of_tables, html_table
from grove_shell.library.tables import Table, table_of
from grove_shell.views.explain.explain_page import explain_page
from grove_shell.views.renderers import format_json_document


class Reasoned(NamedTuple):
    """One answer about the object.

    Attributes:
        about: the object or replica, as ``PodClique/llama-0-decode``.
        question: ``breach``, ``termination``, ``availability`` ...
        verdict: the answer, a word.
        because: sentences.
        rule: id of the first rule.
    """

    about: str
    question: str
    verdict: str
    because: str
    rule: str


@dataclass(frozen=True, repr=False, eq=False)
class Explanation:
    """Why an object is as it is.

    Attributes:
        target: ``KIND/NAME``.
        internals: not part of the public names.
    """

    target: str
    internals: Explained

    @property
    def answers(self) -> Table[Reasoned]:
        """Every verdict on the object and on what would take it along."""
        rows = (
            Reasoned(
                found.subject.short,
                found.question,
                found.verdict,
                "; ".join(why.sentence for why in found.because),
                found.because[0].rule.requirement,
            )
            for one in self.internals.objects
            for found in one.inquiry.findings()
        )
        return table_of(Reasoned, rows)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``grove explain -o json`` prints."""
        return object_explanation_as_json(self.internals)

    def to_json(self) -> str:
        """Return it as text."""
        return format_json_document(self.to_dict())

    def __str__(self) -> str:
        """Return the page of ``grove explain``."""
        return explain_page(self.internals.objects, self.internals.header, only_guards=False).plain_text

    def __repr__(self) -> str:
        return f"<Explanation of {self.target}: {len(self.answers)} answers>"

    def _repr_html_(self) -> str:
        """Return a table for a notebook."""
        return html_page_of_tables(self.target, html_table("answers", self.answers.columns, self.answers))


def explain(cluster: Cluster, target: str, *, namespace: str | None = None) -> Explanation:
    """Return why an object is as it is, of the cluster or one that a plan creates.

    Args:
        cluster: as :func:`grove_shell.read` returns it.
        target: ``KIND/NAME``, as ``pclq/llama-0-decode`` or ``pod/llama-0-decode-x7k2p``.
        namespace: of the object; needed where several namespaces have one of this name.

    Raises:
        ValueError: there is no such object.
        TypeError: an argument is wrong.

    Example:
        >>> import grove_shell as grove
        >>> found = grove.explain(grove.read("examples/real-cluster.yaml"), "pclq/qwen-1-worker")
        >>> found.answers[0].question, found.answers[0].verdict, found.answers[0].because
        ('breach', 'True', '2 scheduled, at least 3 needed')
    """
    read = require_cluster(cluster).internals
    if not isinstance(target, str):
        raise TypeError(f"target is a text as 'pclq/llama-0-decode'; got {type(target).__name__}")
    kind, name = kind_and_name_of_target(target)
    if not kind:
        raise ValueError(f"target: {name}")
    if "/" in name:
        raise ValueError(
            f"target {target}: the namespace is an argument of its own: explain(cluster, 'KIND/NAME', namespace=...)"
        )
    where = require_text_or_none(namespace, "namespace") or read.source.namespace
    found = explain_input(read.inputs, kind, name, where, read.option)
    spaces = sorted({one.inquiry.ref.namespace for one in found.objects})
    if len(spaces) > 1:
        raise ValueError(f"{target} is in the namespaces {', '.join(spaces)}: say namespace={spaces[0]!r}")
    if not found.objects:
        raise ValueError(f"target: not in the input, or of no PodCliqueSet in it: {kind} {name}{found.hint}")
    return Explanation(target, found)
