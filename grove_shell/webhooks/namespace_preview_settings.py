"""What the configuration and the labels of a namespace say about the preview of updates there (WH-043)."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from grove_core.plan.update_forecast import PodsAndGpus
from grove_core.resources.json_field_reader import short_json
from grove_shell.settings.webhook_settings import PREVIEW_LABELS, PREVIEW_MODE_LABEL, PreviewSettings
from grove_shell.views.formatting import count_with_noun

_MODES: Final = ("off", "warn")
_NO_LIMIT: Final = "none"
_DENY_ABOVE: Final = f"{PREVIEW_LABELS}deny-above-"
_LABELS: Final = (PREVIEW_MODE_LABEL, f"{_DENY_ABOVE}pods", f"{_DENY_ABOVE}gpus")


class UpdateRestartLimit(NamedTuple):
    """The most that an update may restart.

    Attributes:
        noun: what is counted: ``pod`` or ``GPU``.
        setting: where the limit is set, as a user finds it.
    """

    noun: str
    most: int
    setting: str

    def objection(self, restarts: PodsAndGpus) -> str:
        """Return why an update that restarts so much is refused; empty where it is not."""
        count = restarts.pods if self.noun == "pod" else restarts.gpus
        if count <= self.most:
            return ""
        what = count_with_noun(count, self.noun)
        return (
            f"{what if self.noun == 'pod' else f'pods with {what}'} restart, and at most {self.most:,} may; "
            f"make a smaller edit, or raise {self.setting}"
        )


class NamespacePreviewSettings(NamedTuple):
    """What the preview does in one namespace.

    Attributes:
        is_on: whether updates are previewed.
        limits: above which an update is refused.
        notes: on labels that are not understood.
    """

    is_on: bool
    limits: tuple[UpdateRestartLimit, ...] = ()
    notes: tuple[str, ...] = ()


def preview_settings_of_namespace(
    settings: PreviewSettings, namespace: str, labels: Mapping[str, object]
) -> NamespacePreviewSettings:
    """Return what is done in a namespace; each label replaces the setting of its name."""
    notes = _unknown_labels(namespace, labels)
    mode = _label(labels, PREVIEW_MODE_LABEL, settings.mode, namespace, notes)
    limits = []
    for noun, key, configured in (
        ("pod", "pods", settings.deny_above.pods),
        ("GPU", "gpus", settings.deny_above.gpus),
    ):
        label = f"{_DENY_ABOVE}{key}"
        text = labels.get(label)
        most, setting = configured, f"preview.denyAbove.{key} in the configuration of the preview"
        if isinstance(text, str) and (text == _NO_LIMIT or (text.isascii() and text.isdigit())):
            most, setting = None if text == _NO_LIMIT else int(text), f"the label {label} of namespace {namespace}"
        elif text is not None:
            notes.append(_not_understood(label, namespace, f"a number or {_NO_LIMIT}", text))
        if most is not None:
            limits.append(UpdateRestartLimit(noun, most, setting))
    return NamespacePreviewSettings(mode == "warn", tuple(limits), tuple(notes))


def _label(labels: Mapping[str, object], label: str, otherwise: str, namespace: str, notes: list[str]) -> str:
    """Return the mode of a namespace; a value that is no mode counts as absent and is noted."""
    text = labels.get(label, otherwise)
    if text in _MODES:
        return str(text)
    notes.append(_not_understood(label, namespace, " or ".join(_MODES), text))
    return otherwise


def _unknown_labels(namespace: str, labels: Mapping[str, object]) -> list[str]:
    """Return a note on each label that has the prefix of the preview and another name, such as a misspelled limit."""
    return [
        f"label {label} of namespace {namespace}: unknown, so it changes nothing; the labels are {', '.join(_LABELS)}"
        for label in sorted(labels)
        if label.startswith(PREVIEW_LABELS) and label not in _LABELS
    ]


def _not_understood(label: str, namespace: str, expected: str, got: object) -> str:
    return (
        f"label {label} of namespace {namespace}: expected {expected}, got {short_json(got)}; the configuration applies"
    )
