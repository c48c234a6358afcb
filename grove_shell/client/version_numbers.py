"""Resource versions as numbers, comparable within one kind (OP-900)."""


def version_number(version: object) -> int:
    """Return a resource version as a number; 0 for what is none."""
    return int(version) if isinstance(version, str) and version.isdecimal() else 0
