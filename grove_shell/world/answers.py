"""What answers of an API server mean for the step that was tried."""

from grove_core.kernel.steps import Outcome
from grove_shell.client.api import CONFLICT, NOT_FOUND, SERVER_FAULT, TOO_MANY, Answer


def judged(answer: Answer) -> tuple[Outcome, str]:
    """What an answer means: conflicts are looked at again, refusals are told, faults of the server are tried again."""
    if answer.good:
        return Outcome.DONE, ""
    if answer.status in {CONFLICT, NOT_FOUND}:
        return Outcome.CONFLICT, answer.words
    if answer.status == TOO_MANY or answer.status >= SERVER_FAULT:
        return Outcome.UNREACHABLE, answer.words
    return Outcome.REFUSED, answer.words


def exists_already(answer: Answer) -> bool:
    """Whether a creation was refused because somebody was there before."""
    return answer.status == CONFLICT and answer.json().get("reason") == "AlreadyExists"
