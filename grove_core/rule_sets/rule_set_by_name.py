"""All rule sets by name (GF-100). Those of the Go operator are imported only when one of them is needed (P11)."""

from collections.abc import Mapping
from types import MappingProxyType

from grove_core.rule_sets.rule_set import DESIGN, RuleSet


def rule_sets() -> Mapping[str, RuleSet]:
    """Return every rule set by its name."""
    from grove_core.rule_sets.go_operator import BY_NAME  # noqa: PLC0415 - as above

    return MappingProxyType({DESIGN.name: DESIGN, **BY_NAME})


def rule_set(name: str) -> RuleSet:
    """Return the rule set with a name.

    Args:
        name: ``design``, ``field``, or ``field@`` with a release, as ``field@v0.1.0-alpha.11`` or in short
            ``field@alpha.11``.

    Raises:
        ValueError: there is none; the message lists the known ones or suggests one.
        TypeError: it is no text.

    Example:
        >>> from grove_core import rule_set
        >>> rule_set("field").name
        'field@v0.1.0-alpha.12-rc1'
        >>> rule_set("field@alpha.11").name
        'field@v0.1.0-alpha.11'
    """
    if name == DESIGN.name:
        return DESIGN
    if not isinstance(name, str):
        raise TypeError(f"rule_set takes a name, as 'field'; got {type(name).__name__}")
    from grove_core.rule_sets.rule_set_names import full_rule_set_name  # noqa: PLC0415 - as above

    try:
        return rule_sets()[full_rule_set_name(name)]
    except ValueError as fault:
        raise ValueError(f"there is no rule set {name!r}; expected {fault}") from None


def rule_set_names() -> tuple[str, ...]:
    """Return the name of every rule set.

    Example:
        >>> from grove_core import rule_set_names
        >>> rule_set_names()[:2]
        ('design', 'field')
    """
    return tuple(rule_sets())
