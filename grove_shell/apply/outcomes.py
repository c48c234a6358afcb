"""What a response of an API server means for the step that was tried."""

from typing import Final

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Outcome
from grove_shell.client.api import Unreachable
from grove_shell.client.response import CONFLICT, NOT_FOUND, SERVER_FAULT, TOO_MANY, Response
from grove_shell.client.response_check import confirms_write

_WEBHOOK_FAILED: Final = "failed calling webhook"


class Undecided(Unreachable):
    """A response about one object by which nothing can be decided; the server may response about others.

    Attributes:
        outcome: of the step that needed the response.
    """

    def __init__(self, words: str, outcome: Outcome = Outcome.UNREACHABLE) -> None:
        """Keep the message and the outcome."""
        super().__init__(words)
        self.outcome = outcome


def attempt_of(response: Response, ref: Ref) -> tuple[Outcome, str]:
    """Return outcome and message of a response.

    404 and 409 are conflicts, 429 and 5xx count as no response, every other error is a refusal. A success that does not
    come from an API server, or is not about that object, counts as no response (OP-065).
    """
    if response.ok:
        was_done = confirms_write(response, ref)
        return (
            (Outcome.DONE, "")
            if was_done
            else (Outcome.UNREACHABLE, f"the response is not of an API server: {response.message}")
        )
    if response.status in {CONFLICT, NOT_FOUND}:
        return Outcome.CONFLICT, response.message
    if response.status == TOO_MANY or response.status >= SERVER_FAULT:
        return Outcome.UNREACHABLE, response.message
    return Outcome.REFUSED, response.message


def undecided_because(response: Response, ref: Ref, words: str) -> Unreachable:
    """Return the error for a response that does not show an object; of the one object, or of the whole server."""
    outcome, _ = attempt_of(response, ref)
    return Unreachable(words) if outcome is Outcome.UNREACHABLE else Undecided(words, outcome)


def attempt_of_creation(response: Response, ref: Ref) -> tuple[Outcome, str]:
    """Return the same for a creation: a webhook that does not response and a missing namespace are refusals."""
    webhook_failed = response.status >= SERVER_FAULT and _WEBHOOK_FAILED in response.message
    if response.status == NOT_FOUND or webhook_failed:  # OP-061, OP-062
        return Outcome.REFUSED, response.message
    return attempt_of(response, ref)


def exists_already(response: Response) -> bool:
    """Return whether a creation was refused because an object of that name exists."""
    return response.status == CONFLICT and response.json().get("reason") == "AlreadyExists"
