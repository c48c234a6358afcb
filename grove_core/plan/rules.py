"""Rules of planning, with their reason codes and sentences."""

from enum import unique

from grove_core.kernel.reasons import Rule, RuleSentence


@unique
class WithheldStepReason(Rule):
    """Why a step is withheld by the planner."""

    COMPANION_REMAINS = RuleSentence(
        "PL-014", "{companion}, which is deleted for the same cause, could not be deleted yet"
    )
    CAUSE_REMAINS = RuleSentence(
        "PL-027", "{cause}, the cause, could not be deleted before, so nothing else is deleted for it"
    )
    TERMINATION_INCOMPLETE = RuleSentence(
        "PL-028", "it would report a termination, and {part} could not be deleted yet"
    )
    FRESH_READ_FAILED = RuleSentence(
        "PL-029", "a gang is terminated only after a fresh read, which failed and is repeated: {detail}"
    )
    STATUS_NOT_WRITTEN = RuleSentence("PL-021", "the status of {subject} has to be written first, and was refused")
    REFUSED_BEFORE = RuleSentence("PL-012", "the server refused this a moment ago: {detail}")
