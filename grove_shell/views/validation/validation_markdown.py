"""The verdicts of ``grove validate`` as Markdown: how many manifests are refused, and every problem (CL-090)."""

from collections.abc import Mapping, Sequence
from typing import Final

from grove_core.kernel.admission import Deny
from grove_shell.reading.field_positions import FieldPositions
from grove_shell.reading.input_faults import InputFault
from grove_shell.reading.input_items import item_display_name
from grove_shell.views.formatting import count_with_noun
from grove_shell.views.markdown_text import MarkdownDocument
from grove_shell.views.validation.ci_annotations import (
    AnnotationLevel,
    ValidationAnnotation,
    ci_annotations_of_validation,
)
from grove_shell.views.validation.validation_page import JudgedManifest

_ROWS: Final = 200


def validation_markdown(
    judged: Sequence[JudgedManifest],
    warned: Sequence[JudgedManifest],
    faults: Sequence[InputFault],
    others: Mapping[str, int],
    positions: FieldPositions,
) -> str:
    """Return the verdicts as Markdown.

    Args:
        warned: objects that no operator of Grove admits, with warnings (WL-250).
        faults: problems of the input.
        others: kind -> how many objects were not judged.
        positions: of the fields in their files.
    """
    found = list(ci_annotations_of_validation([*judged, *warned], faults, positions))
    written = MarkdownDocument("grove validate")
    written.add_verdict(_verdict(judged, faults, found))
    written.add_table(
        ("file", "", "problem", "rule"),
        [(_place(one), one.level.value, one.text, f"{one.code} {one.requirement}") for one in found[:_ROWS]],
        "problem",
    )
    if len(found) > _ROWS:
        written.add_text(f"and {count_with_noun(len(found) - _ROWS, 'more problem')}")
    written.add_list(
        [
            f"{item.file}: {item_display_name(item)}: {'refused' if isinstance(one.verdict, Deny) else 'admitted'}"
            for item, one in judged
        ],
        "manifest",
    )
    if others:
        written.add_text(f"not checked: {', '.join(f'{count:,} {kind}' for kind, count in others.items())}")
    return written.text()


def _verdict(
    judged: Sequence[JudgedManifest], faults: Sequence[InputFault], found: Sequence[ValidationAnnotation]
) -> str:
    refused = sum(isinstance(decision.verdict, Deny) for _, decision in judged)
    errors = sum(one.level is AnnotationLevel.ERROR for one in found)
    counts = [
        *([count_with_noun(errors, "problem")] if errors and (judged or faults) else []),
        *([count_with_noun(len(found) - errors, "warning")] if len(found) > errors else []),
    ]
    if refused:
        words = f"{refused:,} of {count_with_noun(len(judged), 'manifest')} refused"
    elif judged:
        words = f"{count_with_noun(len(judged), 'manifest')} admitted"
    else:
        words = "nothing was checked: no PodCliqueSet in the input"
    return ", ".join([words, *counts])


def _place(one: ValidationAnnotation) -> str:
    return f"{one.file}:{one.place[0]}" if one.place is not None else one.file
