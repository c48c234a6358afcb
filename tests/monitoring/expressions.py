"""Which metrics and labels an expression of PromQL reads, and which of them are not in the registry."""

import re
from typing import Final

from grove_shell.monitoring.metric_descriptions import operator_metric_descriptions, webhook_metric_descriptions

SERVED: Final = {
    name: labels
    for metric in (*operator_metric_descriptions(), *webhook_metric_descriptions())
    for name, labels in metric.sample_labels.items()
}
_OF_TARGETS: Final = frozenset({"job", "instance"})
_WORDS: Final = frozenset({"and", "or", "unless", "by", "on", "without", "ignoring"})
_STRING: Final = re.compile(r'"[^"]*"')
_GROUPED: Final = re.compile(r"\b(by|on) \(([^()]*)\)")
_MATCHERS: Final = re.compile(r"([A-Za-z_:][\w:]*)?\{([^{}]*)\}")
_RANGE: Final = re.compile(r"\[[^\]]*\]")
_NAME: Final = re.compile(r"(?<![\w$.])[A-Za-z_:][\w:]*\b(?!\s*\()(?!\s*[=!])")


def metrics_in(expression: str) -> list[str]:
    """The names of the time series in an expression, in their order."""
    text = _STRING.sub('""', expression)
    for part in (_GROUPED, _RANGE):
        text = part.sub(" ", text)
    text = _MATCHERS.sub(lambda match: match[1] or " ", text)
    return [name for name in _NAME.findall(text) if name not in _WORDS]


def unknown_names(expression: str) -> list[str]:
    """Metrics that are not served, and labels that the metric beside them, or the next one, does not have."""
    metrics = metrics_in(expression)
    found = [name for name in metrics if name not in SERVED]
    text = _STRING.sub('""', expression)
    for match in _MATCHERS.finditer(text):
        known = SERVED.get(match[1], frozenset()) | _OF_TARGETS
        found += [label for label in re.findall(r"(\w+)\s*[=!]", match[2]) if label not in known]
    for match in _GROUPED.finditer(text):
        following = next((name for name in metrics_in(expression[match.end() :]) if name in SERVED), "")
        known = SERVED.get(following, frozenset()) | _OF_TARGETS
        if following:
            found += [label for label in re.findall(r"\w+", match[2]) if label not in known]
    return found
