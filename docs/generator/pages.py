"""All generated pages: their paths below ``docs/`` and their texts."""

from functools import cache
from pathlib import Path
from typing import Final

from docs.generator.commands import commands_page, exit_codes_page
from docs.generator.configuration import configuration_page
from docs.generator.fields import fields_page
from docs.generator.metrics import metrics_page
from docs.generator.pictures import outputs_page
from docs.generator.plan_format import plan_format_page
from docs.generator.python_api import python_pages
from docs.generator.rules import rule_pages

_DECISIONS: Final = Path(__file__).parents[2] / "specs" / "decisions"


@cache
def generated() -> dict[str, str]:
    """Return the text of each generated page by its path below ``docs/``."""
    return {
        "tutorial/outputs.md": outputs_page(),
        "reference/commands.md": commands_page(),
        "reference/fields.md": _ranked(fields_page(), 4),
        "reference/exit-codes.md": exit_codes_page(),
        "reference/configuration.md": configuration_page(),
        "reference/plan-format.md": plan_format_page(),
        "reference/metrics.md": metrics_page(),
        **{f"reference/rules/{name}": page for name, page in rule_pages().items()},
        **{f"reference/python/{name}": _ranked(page, 0.2) for name, page in python_pages().items()},
        **{f"explanation/decisions/{path.name}": path.read_text("utf-8") for path in sorted(_DECISIONS.glob("*.md"))},
    }


def _ranked(page: str, factor: float) -> str:
    """Return a page that the search of the site ranks higher or lower by a factor."""
    return f"---\nsearch:\n  boost: {factor}\n---\n\n{page}"
