"""Resource versions: of one kind they can be compared (OP-900)."""


def number_of(version: object) -> int:
    """Which state of the store it is; what is no version comes before everything."""
    return int(version) if isinstance(version, str) and version.isdecimal() else 0
