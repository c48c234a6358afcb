"""The ready policies: files of this package, to print and to edit."""

from pathlib import Path
from typing import Final

_FOLDER: Final = Path(__file__).parent / "ready"


def ready_policy_names() -> tuple[str, ...]:
    """Return the names of the ready policies, sorted."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.yaml")))


def ready_policy_text(name: str) -> str:
    """Return the file of a ready policy."""
    return ready_policy_path(name).read_text(encoding="utf-8")


def ready_policy_path(name: str) -> Path:
    """Return where the file of a ready policy is."""
    return _FOLDER / f"{name}.yaml"


def ready_policy_meaning(name: str) -> str:
    """Return the sentence that its file begins with."""
    return ready_policy_text(name).partition("\n")[0].removeprefix("# ")
