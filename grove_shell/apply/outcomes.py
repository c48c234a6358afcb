"""What a response of an API server means for the step that was tried."""

from typing import Final

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Outcome
from grove_shell.client.api import Unreachable
from grove_shell.client.response import CONFLICT, NOT_FOUND, SERVER_FAULT, TOO_MANY, Response
from grove_shell.client.response_check import confirms_write

_UNASKED: Final = "failed calling webhook"


class Undecided(Unreachable):
    """A response about one object by which nothing can be decided; the server may answer about others.

    Attributes:
        outcome: of the step that needed the response.
    """

    def __init__(self, words: str, outcome: Outcome = Outcome.UNREACHABLE) -> None:
        """Keep the message and the outcome."""
        super().__init__(words)
        self.outcome = outcome


def attempt_of(answer: Response, ref: Ref) -> tuple[Outcome, str]:
    """Return outcome and message of a response.

    404 and 409 are conflicts, 429 and 5xx count as no response, every other error is a refusal. A success that does not
    come from an API server, or is not about that object, counts as no response (OP-068).
    """
    if answer.ok:
        was_done = confirms_write(answer, ref)
        return (Outcome.DONE, "") if was_done else (Outcome.UNREACHABLE, f"what came is no answer: {answer.message}")
    if answer.status in {CONFLICT, NOT_FOUND}:
        return Outcome.CONFLICT, answer.message
    if answer.status == TOO_MANY or answer.status >= SERVER_FAULT:
        return Outcome.UNREACHABLE, answer.message
    return Outcome.REFUSED, answer.message


def undecided_because(answer: Response, ref: Ref, words: str) -> Unreachable:
    """Return the error for a response that does not show an object; of the one object, or of the whole server."""
    outcome, _ = attempt_of(answer, ref)
    return Unreachable(words) if outcome is Outcome.UNREACHABLE else Undecided(words, outcome)


def attempt_of_creation(answer: Response, ref: Ref) -> tuple[Outcome, str]:
    """Return the same for a creation: a webhook that does not answer and a missing namespace are refusals."""
    unasked = answer.status >= SERVER_FAULT and _UNASKED in answer.message
    if answer.status == NOT_FOUND or unasked:  # OP-061, OP-062
        return Outcome.REFUSED, answer.message
    return attempt_of(answer, ref)


def exists_already(answer: Response) -> bool:
    """Return whether a creation was refused because an object of that name exists."""
    return answer.status == CONFLICT and answer.json().get("reason") == "AlreadyExists"
