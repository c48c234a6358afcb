"""Which manifests an operator refuses, and what it warns of, as ``grove validate`` prints it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from os import PathLike
from typing import Any, NamedTuple, TypeAlias

from grove_core.kernel.admission import Deny, FieldRemark
from grove_core.kernel.errors import ProblemKind
from grove_core.resources.object_metadata import metadata_in
from grove_core.rule_sets.rule_set import RuleSet
from grove_shell.actions.rule_set_choice import AUTO
from grove_shell.actions.validate import Validation, judge_manifests
from grove_shell.library.arguments import given_rules, optional_path, split_sources_by_type
from grove_shell.library.html_tables import html_page_of_tables, html_table
from grove_shell.library.tables import Table, table_of
from grove_shell.reading.field_positions import FieldPositions
from grove_shell.reading.input_faults import InputFault
from grove_shell.reading.input_items import InputItem
from grove_shell.views.formatting import count_with_noun
from grove_shell.views.renderers import format_json_document
from grove_shell.views.validation.validation_page import JudgedManifest, validation_as_json

Path: TypeAlias = str | PathLike[str]


class Remark(NamedTuple):
    """A problem or a warning.

    Attributes:
        file: as it was given.
        line: of the field in its file, from 1, or of the nearest part of it that exists; None where it is not known.
        object: kind and name.
        path: of the field; empty for a whole object or file.
        message: what has to be otherwise.
        got: what stands there.
        rule: id of the rule; empty where the input cannot be read.
        document: of its file, from 1; None for a whole file.
    """

    file: str
    line: int | None
    object: str
    path: str
    message: str
    got: str
    rule: str
    document: int | None = None


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

    @cached_property
    def manifests(self) -> Table[ManifestVerdict]:
        """One verdict for each manifest, in the order of the input."""
        return table_of(ManifestVerdict, (_verdict(one, self._positions) for one in self.internals.judged))

    @property
    def refused(self) -> Table[ManifestVerdict]:
        """The manifests that are refused."""
        return table_of(ManifestVerdict, (one for one in self.manifests if one.refused))

    @property
    def problems(self) -> Table[Remark]:
        """What cannot be read or judged, which is of no verdict in ``manifests``, and why manifests are refused."""
        refusals = [one for verdict in self.manifests for one in verdict.problems]
        faults = [_fault(one) for one in self.internals.faults]
        is_empty = not (self.internals.judged or faults)
        return table_of(Remark, [*faults, *([self._nothing_judged()] if is_empty else []), *refusals])

    @property
    def faulty_files(self) -> tuple[str, ...]:
        """The files with a problem of the input, such as a syntax error."""
        return tuple(dict.fromkeys(one.file for one in self.internals.faults))

    @property
    def warnings(self) -> Table[Remark]:
        """What is allowed and probably not meant."""
        others = (_verdict(judged, self._positions) for judged in self.internals.warned)
        return table_of(Remark, (one for verdict in chain(self.manifests, others) for one in verdict.warnings))

    @property
    def ok(self) -> bool:
        """Whether everything could be read, at least one manifest was judged, and none is refused."""
        return bool(self.internals.judged) and not self.problems

    @property
    def rules(self) -> str:
        """The name of the rule set that judged."""
        return self.internals.rules

    @property
    def judged_as_new(self) -> tuple[str, ...]:
        """The sets that have no earlier version in ``old``; none where ``old`` was not given."""
        return self.internals.new

    @property
    def not_judged(self) -> Mapping[str, int]:
        """Kind -> how many objects were not judged."""
        return dict(self.internals.others)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``grove validate -o json`` prints."""
        judged = [*self.internals.judged, *self.internals.warned]
        return dict(validation_as_json(judged, self.internals.others, self._positions))

    def to_json(self) -> str:
        """Return it as text."""
        return format_json_document(self.to_dict())

    def _nothing_judged(self) -> Remark:
        found = ", ".join(f"{count} {kind}" for kind, count in self.internals.others.items()) or "no object"
        message = "nothing was judged: expected a PodCliqueSet or a ClusterTopology"
        return Remark(", ".join(self.internals.files), None, "", "", message, found, "")

    @cached_property
    def _positions(self) -> FieldPositions:
        return FieldPositions()

    def __repr__(self) -> str:
        judged, faults = len(self.internals.judged), len(self.internals.faults)
        others = f", {count_with_noun(faults, 'problem')} of the input" if faults else ""
        return f"<ValidationResult by {self.rules!r}: {len(self.refused)} of {judged} manifests refused{others}>"

    def _repr_html_(self) -> str:
        """Return tables for a notebook."""
        parts = (("problems", self.problems), ("warnings", self.warnings))
        return html_page_of_tables(
            repr(self)[1:-1], *(html_table(caption, rows.columns, rows) for caption, rows in parts)
        )


def validate(
    *sources: Path | Iterable[Path],
    rules: str | RuleSet = AUTO,
    config: str | PathLike[str] | None = None,
    old: Path | Iterable[Path] = (),
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
    (paths, *rest), (earlier, *more) = split_sources_by_type(sources), split_sources_by_type([old])
    if any(rest) or any(more):
        raise TypeError("validate takes paths of files and folders, since it says in which line a problem is")
    if not paths:
        raise TypeError("nothing to validate: give the path of a file or folder")
    option = given_rules(rules)
    chosen = None if option == AUTO else option
    return ValidationResult(judge_manifests(paths, earlier, optional_path(config, "config"), chosen))


def _verdict(judged: JudgedManifest, positions: FieldPositions) -> ManifestVerdict:
    item, decision = judged
    verdict = decision.verdict
    refusals = verdict.objections if isinstance(verdict, Deny) else ()
    name = _object_name(item)
    problems, warnings = (tuple(_remarks(item, one, positions)) for one in (refusals, verdict.warnings))
    return ManifestVerdict(item.file, name, bool(refusals), problems, warnings)


def _remarks(item: InputItem, found: Iterable[FieldRemark], positions: FieldPositions) -> Iterator[Remark]:
    for one in found:
        place, why = positions.position_of(item, one.path), one.reason
        line = place[0] if place is not None else None
        yield Remark(
            item.file, line, _object_name(item), one.path, why.sentence, one.got, why.rule.requirement, item.document
        )


def _fault(fault: InputFault) -> Remark:
    expected, got = (fault.expected, fault.got) if fault.expected else (fault.got, "")
    is_sentence = fault.kind is ProblemKind.UNKNOWN_FIELD or expected.startswith("may ")
    message = expected if not got or is_sentence else f"expected {expected}"
    return Remark(fault.file, fault.line, fault.object, fault.path, message, got, "", fault.document)


def _object_name(item: InputItem) -> str:
    return f"{item.value.get('kind')} {'/'.join(filter(None, metadata_in(item.value).namespace_and_name))}"
