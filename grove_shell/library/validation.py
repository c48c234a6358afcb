"""Which manifests an operator refuses, and what it warns of, as ``grove validate`` prints it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, NamedTuple

from grove_core.kernel.admission import Deny, FieldRemark
from grove_core.resources.object_metadata import metadata_in
from grove_core.rule_sets.rule_set import RuleSet
from grove_shell.actions.rule_set_choice import AUTO
from grove_shell.actions.validate import Validation, judge_manifests
from grove_shell.library.arguments import Source, given_rules, optional_path, sources_in
from grove_shell.library.html import html_escaped, html_table
from grove_shell.reading.field_positions import FieldPositions
from grove_shell.reading.input_faults import InputFault
from grove_shell.reading.input_items import InputItem
from grove_shell.views.renderers import format_json_document
from grove_shell.views.validation_page import JudgedManifest, validation_as_json


class Remark(NamedTuple):
    """A problem or a warning.

    Attributes:
        file, object: where it is.
        path: of the field; empty for a whole object or file.
        message: what has to be otherwise.
        got: what stands there.
        rule: id of the rule; empty where the input cannot be read.
    """

    file: str
    object: str
    path: str
    message: str
    got: str
    rule: str


class ManifestVerdict(NamedTuple):
    """The verdict on one manifest: a set or a topology."""

    file: str
    object: str
    refused: bool
    problems: tuple[Remark, ...]
    warnings: tuple[Remark, ...]


@dataclass(frozen=True, repr=False, eq=False)
class ValidationResult:
    """The verdicts on manifests.

    Attributes:
        internals: not part of the public names.
    """

    internals: Validation

    @property
    def manifests(self) -> tuple[ManifestVerdict, ...]:
        """One verdict for each manifest, in the order of the input."""
        return tuple(_verdict(one) for one in self.internals.judged)

    @property
    def refused(self) -> tuple[ManifestVerdict, ...]:
        """The manifests that are refused."""
        return tuple(one for one in self.manifests if one.refused)

    @property
    def problems(self) -> tuple[Remark, ...]:
        """Why manifests are refused, and what cannot be read; the latter belongs to no verdict of ``manifests``."""
        return (*map(_fault, self.internals.faults), *(one for verdict in self.manifests for one in verdict.problems))

    @property
    def warnings(self) -> tuple[Remark, ...]:
        """What is allowed and probably not meant."""
        others = (one for judged in self.internals.warned for one in _verdict(judged).warnings)
        return (*(one for verdict in self.manifests for one in verdict.warnings), *others)

    @property
    def ok(self) -> bool:
        """Whether everything could be read, at least one manifest was judged, and none is refused."""
        return bool(self.internals.judged) and not self.problems

    @property
    def rules(self) -> str:
        """The name of the rule set that judged."""
        return self.internals.rules

    @property
    def not_judged(self) -> Mapping[str, int]:
        """Kind -> how many objects were not judged."""
        return dict(self.internals.others)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``grove validate -o json`` prints."""
        judged = [*self.internals.judged, *self.internals.warned]
        return dict(validation_as_json(judged, self.internals.others, FieldPositions()))

    def to_json(self) -> str:
        """Return it as text."""
        return format_json_document(self.to_dict())

    def __repr__(self) -> str:
        judged, faults = len(self.internals.judged), len(self.internals.faults)
        others = f", {faults} problems of the input" if faults else ""
        return f"<ValidationResult by {self.rules!r}: {len(self.refused)} of {judged} manifests refused{others}>"

    def _repr_html_(self) -> str:
        """Return tables for a notebook."""
        parts = (("problems", self.problems), ("warnings", self.warnings))
        top = f"<p><b>{html_escaped(repr(self)[1:-1])}</b></p>"
        return top + "".join(html_table(caption, Remark._fields, rows) for caption, rows in parts)


def validate(
    *sources: Source | Iterable[Source],
    rules: str | RuleSet = AUTO,
    config: str | PathLike[str] | None = None,
    old: Source | Iterable[Source] = (),
) -> ValidationResult:
    """Return which manifests an operator refuses; nothing raises because of what they contain.

    Args:
        sources: paths of files and folders.
        rules: the operator that admits them, as for :func:`grove_shell.read`.
        config: its configuration file.
        old: paths of earlier versions, with which updates are judged.

    Raises:
        TypeError, ValueError: an argument is wrong.

    Example:
        >>> import grove_shell as grove
        >>> grove.validate("examples/edits")
        <ValidationResult by 'design': 0 of 3 manifests refused>
    """
    if not sources:
        raise TypeError("nothing to validate: give the path of a file or folder")
    (paths, *rest), (earlier, *more) = sources_in(sources), sources_in([old])
    if any(rest) or any(more):
        raise TypeError("validate takes paths of files and folders, since it says in which line a problem is")
    option = given_rules(rules)
    chosen = None if option == AUTO else option
    return ValidationResult(judge_manifests(paths, earlier, optional_path(config, "config"), chosen))


def _verdict(judged: JudgedManifest) -> ManifestVerdict:
    item, decision = judged
    verdict = decision.verdict
    refusals = verdict.objections if isinstance(verdict, Deny) else ()
    name = _object_name(item)
    problems, warnings = (tuple(_remarks(item, one)) for one in (refusals, verdict.warnings))
    return ManifestVerdict(item.file, name, bool(refusals), problems, warnings)


def _remarks(item: InputItem, found: Iterable[FieldRemark]) -> Iterator[Remark]:
    for one in found:
        reason = one.reason
        yield Remark(item.file, _object_name(item), one.path, reason.sentence, one.got, reason.rule.requirement)


def _fault(fault: InputFault) -> Remark:
    message, got = (fault.expected, fault.got) if fault.expected else (fault.got, "")
    return Remark(fault.file, fault.object, fault.path, message, got, "")


def _object_name(item: InputItem) -> str:
    return f"{item.value.get('kind')} {'/'.join(filter(None, metadata_in(item.value).namespace_and_name))}"
