"""For laws whose every example is long: a whole life, say, from a manifest to rest and on."""

from typing import Final

from hypothesis import settings

RARELY: Final = settings(max_examples=max(10, settings().max_examples // 4))
"""A quarter of the examples: each of them has as many rounds as other laws have examples."""
