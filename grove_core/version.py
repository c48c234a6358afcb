"""The version of the core, in one place; plans carry it."""

from typing import Final

VERSION: Final = "0.1.0"
