"""Names of rule sets in flags and configuration files (GF-100)."""

from typing import Annotated

from pydantic import AfterValidator

from grove_core.rule_sets.full_names import full_rule_set_name

RuleSetName = Annotated[str, AfterValidator(full_rule_set_name)]
