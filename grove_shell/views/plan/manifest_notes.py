"""Notes on the manifests of an input: edits that are planned, that are not, and that are not compared in full."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from grove_core.resources.edited_manifest_fields import ManifestChange
from grove_shell.styled_text_page import Span, StyledTextPage
from grove_shell.views.formatting import MAX_NAMES, count_with_noun, join_names_with_commas
from grove_shell.views.plan.edit_lines import merge_equal_clique_changes

_ITEM: Final = re.compile(r"\[\d+\]$")
_FIELDS: Final = 2
_NOTE: Final = ("note: ", "bold")


def add_edited_object_lines(page: StyledTextPage, names: Sequence[str], suffix: str = "") -> None:
    """Add which sets and topologies are planned with a manifest of the input; nothing where there is none."""
    if names:
        listed = join_names_with_commas([*names], MAX_NAMES)
        page.add_line(_NOTE, f"planned as if the manifest in the input had just been applied to {listed}{suffix}")


def add_unselected_sets_with_manifests(page: StyledTextPage, names: Sequence[str]) -> None:
    """Add which sets have a manifest in the input and were not selected (IN-087); nothing where there is none."""
    if names:
        listed = join_names_with_commas([*names], MAX_NAMES)
        page.add_line(_NOTE, f"manifests of sets that are not selected are not planned: {listed}")


def unplanned_manifests_summary(names: Sequence[str]) -> list[Span]:
    """Return how many manifests are not planned, for the first line of a page; empty for none."""
    return [(f"{count_with_noun(len(names), 'manifest')} not planned", "bold magenta")] if names else []


def add_redacted_field_lines(
    page: StyledTextPage, hidden: Iterable[tuple[str, Sequence[ManifestChange]]], *, full: bool
) -> None:
    """Add the fields of edited sets that a capture redacted (ED-015).

    Args:
        hidden: ``namespace/name`` of each set, and its fields; sets without one are left out.
        full: whether to name every field.
    """
    found = [(name, fields) for name, fields in hidden if fields]
    for name, fields in found:
        page.add_line(_NOTE, f"{name}: {redacted_fields_text(fields, full=full)}")
    if found:
        page.add_line("  Plan the cluster itself (--live), or capture it with grove snapshot --whole.")


def redacted_fields_text(fields: Sequence[ManifestChange], *, full: bool = False) -> str:
    """Return which fields of an edit count as unchanged because a capture redacted them; ``full`` names them all."""
    together = dict.fromkeys(_ITEM.sub("", one.path) for one in merge_equal_clique_changes(fields))
    names = join_names_with_commas([*together], None if full else _FIELDS)
    return f"an edit of {count_with_noun(len(fields), 'redacted value')} is not seen: {names}"
