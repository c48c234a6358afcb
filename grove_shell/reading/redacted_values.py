"""Edits of sets from a redacted capture: values that the capture hides keep their hashes (ED-015)."""

from collections.abc import Mapping
from typing import Any

from grove_core.kernel.frozen import EMPTY
from grove_core.resources.edited_manifest_fields import ABSENT, ManifestChange, manifest_changes, paired_items
from grove_shell.redaction import is_redacted_text


def with_hidden_values_kept(
    manifest: Mapping[str, Any], stored: Mapping[str, Any]
) -> tuple[Mapping[str, Any], tuple[ManifestChange, ...]]:
    """Return a manifest in which values that cannot be compared are those of the stored set, and their fields.

    A value cannot be compared where the stored one is a hash in place of a text, and the manifest has another text that
    is not empty: redaction leaves an empty text as it is.

    Returns:
        the manifest, and the fields without their values, in the order of the manifest; the manifest itself where it
        has no such field.
    """
    hidden = tuple(
        one._replace(values=EMPTY) for one in manifest_changes(stored, manifest) if _is_hidden(one.before, one.after)
    )
    return (_kept(manifest, stored), hidden) if hidden else (manifest, ())


def _is_hidden(stored: object, given: object) -> bool:
    return is_redacted_text(stored) and isinstance(given, str) and bool(given)


def _kept(given: Any, stored: object) -> Any:  # noqa: ANN401 - any part of a manifest
    """Return a part of a manifest with the hidden values of the same part of the stored set."""
    if isinstance(given, Mapping) and isinstance(stored, Mapping):
        return {key: _kept(value, stored.get(key, ABSENT)) for key, value in given.items()}
    if isinstance(given, list) and isinstance(stored, list):
        pairs = paired_items(stored, given)
        return given if pairs is None else [_kept(one, there) for _, there, one in pairs if one is not ABSENT]
    return stored if _is_hidden(stored, given) else given
