"""The names of rule sets that ``rules=`` takes (LB-013)."""

from grove_core.rule_sets.rule_set_by_name import rule_sets
from grove_core.rule_sets.rule_set_names import full_rule_set_name
from grove_shell.actions.installed_rule_sets import rule_set_entry_points


def rule_set_names() -> tuple[str, ...]:
    """Return the names of the built-in rule sets, then those of installed packages (``grove rules`` lists them too).

    ``rules=`` takes each of them, and a release in short, as ``field@alpha.11``.

    Example:
        >>> import grove_shell as grove
        >>> [name for name in grove.rule_set_names() if "@" not in name]
        ['design', 'field']
    """
    built_in = tuple(rule_sets())
    installed = dict.fromkeys(one.name for one in rule_set_entry_points())
    return (*built_in, *(name for name in installed if "@" not in name and not _is_built_in(name)))


def _is_built_in(name: str) -> bool:
    try:
        full_rule_set_name(name)
    except ValueError:
        return False
    return True
