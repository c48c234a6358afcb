"""What answers of an API server mean for the step that was tried."""

from typing import Final

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Outcome
from grove_shell.client.answer import CONFLICT, NOT_FOUND, SERVER_FAULT, TOO_MANY, Answer
from grove_shell.client.api import Unreachable
from grove_shell.client.genuine import says_done

_UNASKED: Final = "failed calling webhook"


class Undecided(Unreachable):
    """There was an answer about one object, and nothing can be decided by it; of others the server may say more.

    Attributes:
        outcome: of a step that needed it.
    """

    def __init__(self, words: str, outcome: Outcome = Outcome.UNREACHABLE) -> None:
        """Keep what was said."""
        super().__init__(words)
        self.outcome = outcome


def judged(answer: Answer, ref: Ref) -> tuple[Outcome, str]:
    """What an answer means: conflicts are looked at again, refusals are told, faults of the server are tried again.

    What is good and no word of an API server on that object was not answered at all (OP-068).
    """
    if answer.good:
        was_done = says_done(answer, ref)
        return (Outcome.DONE, "") if was_done else (Outcome.UNREACHABLE, f"what came is no answer: {answer.words}")
    if answer.status in {CONFLICT, NOT_FOUND}:
        return Outcome.CONFLICT, answer.words
    if answer.status == TOO_MANY or answer.status >= SERVER_FAULT:
        return Outcome.UNREACHABLE, answer.words
    return Outcome.REFUSED, answer.words


def doubt_of(answer: Answer, ref: Ref, words: str) -> Unreachable:
    """That an answer does not show an object: it is about that one only, but where the server itself is not well."""
    outcome, _ = judged(answer, ref)
    return Unreachable(words) if outcome is Outcome.UNREACHABLE else Undecided(words, outcome)


def judged_creation(answer: Answer, ref: Ref) -> tuple[Outcome, str]:
    """The same of a creation: where nobody could be asked, or there is no place for it, no look tells more."""
    unasked = answer.status >= SERVER_FAULT and _UNASKED in answer.words
    if answer.status == NOT_FOUND or unasked:  # OP-061, OP-062
        return Outcome.REFUSED, answer.words
    return judged(answer, ref)


def exists_already(answer: Answer) -> bool:
    """Whether a creation was refused because somebody was there before."""
    return answer.status == CONFLICT and answer.json().get("reason") == "AlreadyExists"
