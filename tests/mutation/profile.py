"""A plugin of pytest (``-p tests.mutation.profile``): Hypothesis as mutants need it.

A mutant is dead with the first example that fails, so no example is made smaller or explained; and what killed it
yesterday has to kill it today, so examples are the same each time.
"""

from typing import Final

from hypothesis import HealthCheck, Phase, settings

NAME: Final = "mutants"

settings.register_profile(
    NAME,
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=tuple(HealthCheck),
)
