"""The version of the core, in one place; plans carry it."""

from typing import Final

VERSION: Final = "0.2.0"
IMAGE: Final = f"grove:{VERSION}"
"""The default image of the operator, and of the init containers that it adds to pods."""
