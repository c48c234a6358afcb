"""Rules of rule sets that are made of another one, with their reason codes and sentences."""

from enum import unique

from grove_core.kernel.reasons import Rule, RuleSentence


@unique
class SparingReason(Rule):
    """Why a replica is kept that the base of a rule set would terminate."""

    SPARED_BY_RULE_SET = RuleSentence("LB-008", "the rule set {rules} spares it: {why}")
