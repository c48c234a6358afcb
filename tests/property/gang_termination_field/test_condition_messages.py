"""The messages of the Go operator's conditions are those that the specification lists (GF-111)."""

from pathlib import Path
from typing import Final

from grove_core.areas.gang_termination.field.clique_judgement import CLIQUE_MESSAGES
from grove_core.areas.gang_termination.field.rules import GoOperatorReason
from grove_core.areas.gang_termination.field.scaling_group_judgement import GROUP_MESSAGES, TERMINATION_MESSAGE

SPECIFICATION: Final = Path(__file__).parents[3] / "specs/gang_termination_field.md"
HEAD: Final = "| of a | by | reason | message |\n|---|---|---|---|\n"


def rows_in_specification() -> list[tuple[str, ...]]:
    """The cells of each row of the table of messages, without backticks."""
    _, _, after = SPECIFICATION.read_text(encoding="utf-8").partition(HEAD)
    rows = after.partition("\n\n")[0].splitlines()
    return [tuple(cell.strip(" `") for cell in row.strip("|").split("|")) for row in rows]


def test_gf111_the_table_of_messages_is_that_of_the_code() -> None:
    of_code = [
        *(("PodClique", rule, message) for rule, message in CLIQUE_MESSAGES.items()),
        *(("scaling group", rule, message) for rule, message in GROUP_MESSAGES.items()),
        ("scaling group", GoOperatorReason.GANG_TERMINATION_ACTIVE, TERMINATION_MESSAGE),
    ]
    assert rows_in_specification() == [(kind, rule.requirement, rule.code, message) for kind, rule, message in of_code]
