"""``grove policy list`` and ``print``: the ready policies."""

from grove_shell.exit_codes import DONE
from grove_shell.policies.ready_policies import (
    ready_policy_meaning,
    ready_policy_names,
    ready_policy_text,
)
from grove_shell.styled_text_page import StyledTextPage, write_stdout
from grove_shell.views.renderers import RENDERERS


def print_ready_policies(output: str) -> int:
    """Print the names and meanings of the ready policies."""
    meanings = {name: ready_policy_meaning(name) for name in ready_policy_names()}

    def page() -> StyledTextPage:
        shown, width = StyledTextPage(), max(map(len, meanings))
        for name, meaning in meanings.items():
            shown.add_line((f"{name:<{width}}", "bold"), f"  {meaning}")
        return shown

    RENDERERS[output].print_result(
        page=page, document=lambda: [{"name": name, "meaning": words} for name, words in meanings.items()]
    )
    return DONE


def print_ready_policy(name: str) -> int:
    """Print the file of a ready policy (CL-063)."""
    write_stdout(ready_policy_text(name))
    return DONE
