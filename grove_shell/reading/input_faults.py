"""Faults of an input, and the exceptions of reading."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from grove_core.kernel.errors import ObjectProblem, ProblemKind, value_mismatch_text
from grove_core.kernel.structs import Struct
from grove_shell.styled_text_page import escape_unprintable

_LONGEST_PATH: Final = 160
_LONGEST_GOT: Final = 120
_LONGEST_SENTENCE: Final = 500

NO_SUCH_FILE: Final = "no such file"
"""``got`` of the fault of a missing file (IN-026)."""

COMMAND_LINE: Final = "command line"
"""As the file of a fault."""

SortKey: TypeAlias = tuple[str, int, int, int, str, str, str, str]


class InputFault(Struct, frozen=True, kw_only=True):
    """One problem of the input, with its place (IN-030).

    Attributes:
        file: as the user named it, or found under a directory the user named; ``stdin`` for standard input.
        document: number of the document in its file, from 1; 0 for the whole file.
        line: from 1; None if unknown.
        column: in characters, from 1; None if unknown.
        object: ``PodClique ml/decode`` if kind and name are known, otherwise ``items[3]``, otherwise empty.
        path: field path inside the object or the list; empty for the whole.
        expected: what would have been right, as a noun phrase, or what is allowed, as a sentence that begins with
            ``may``; empty where ``got`` says everything.
        got: the value in the input, shortened.
        kind: what is wrong with the field; not written anywhere, it chooses the words.
        lost: whether objects of any kind may be missing because of it.
    """

    file: str
    document: int = 0
    line: int | None = None
    column: int | None = None
    object: str = ""
    path: str = ""
    expected: str
    got: str
    kind: ProblemKind = ProblemKind.WRONG_VALUE
    lost: bool = True

    @property
    def sort_key(self) -> SortKey:
        """Order of reports: by place, then by content (IN-030)."""
        line, column = self.line or 0, self.column or 0
        return self.file, self.document, line, column, self.object, self.path, self.expected, self.got

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}:{self.column or 1}"
        document = f"document {self.document}" if self.document else ""
        inside = ", ".join(part for part in (document, self.object, _clipped(self.path, _LONGEST_PATH)) if part)
        text = f"{place}: {inside}: " if inside else f"{place}: "
        got = _clipped(self.got, _LONGEST_GOT if self.expected else _LONGEST_SENTENCE)
        if self.expected:
            got = value_mismatch_text(self.kind, self.expected, got).removeprefix(
                "expected " if self.expected.startswith("may ") else ""
            )
        return escape_unprintable(text + got)


def file_problems_as_faults(file: str, problems: Iterable[ObjectProblem]) -> Iterator[InputFault]:
    """Yield problems of a file as a whole as faults."""
    for problem in problems:
        yield InputFault(file=file, path=problem.path, expected=problem.expected, got=problem.got, kind=problem.kind)


class BadInput(Exception):
    """An input has faults; the message lists all of them, one on each line (IN-030).

    Attributes:
        faults: in order of place; never empty.
    """

    def __init__(self, faults: Sequence[InputFault]) -> None:
        lines = "".join(f"\n  {fault}" for fault in faults)
        super().__init__(f"{len(faults)} problem{'' if len(faults) == 1 else 's'} in the input{lines}")
        self.faults = tuple(faults)


class UnreadableText(Exception):
    """A text cannot be read any further; everything before this place was returned.

    Attributes: as those of `InputFault`, to which it is converted.
    """

    def __init__(self, expected: str, got: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(f"expected {expected}, got {got}")
        self.expected = expected
        self.got = got
        self.line = line
        self.column = column

    def as_input_fault(self, file: str, document: int = 0, where: str = "") -> InputFault:
        """Return this exception as a fault of a file."""
        return InputFault(
            file=file,
            document=document,
            line=self.line,
            column=self.column,
            object=where,
            expected=self.expected,
            got=self.got,
        )


def _clipped(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 3] + "..."
