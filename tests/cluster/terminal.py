"""A program in a terminal of its own, by tmux: what it shows, keys for it, and another size."""

import shlex
import subprocess
from types import TracebackType
from typing import Final, Self

from tests.cluster.api import wait_until

_PROMPT: Final = "at-the-prompt"


class Terminal:
    """A shell in a terminal of a tmux server of its own, until the block ends."""

    def __init__(self, socket: str, width: int = 80, height: int = 24) -> None:
        self._socket = socket
        self._size = (str(width), str(height))

    def __enter__(self) -> Self:
        width, height = self._size
        shell = ("env", "-i", "TERM=screen-256color", f"PS1={_PROMPT}$ ", "NO_COLOR=1", "sh", "-i")
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", width, "-y", height, shlex.join(shell))
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _value: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._tmux("kill-server")

    def start(self, *command: str, **environment: str) -> None:
        """Type a command at the prompt."""
        words = [*(f"{name}={shlex.quote(value)}" for name, value in environment.items()), shlex.join(command)]
        self.press("-l", " ".join(words))
        self.press("Enter")

    def press(self, *keys: str) -> None:
        self._tmux("send-keys", *keys)

    def resize(self, width: int, height: int) -> None:
        self._tmux("resize-window", "-x", str(width), "-y", str(height))

    def text(self, *options: str) -> str:
        """What the terminal shows."""
        return self._tmux("capture-pane", "-p", *options)

    def ask(self, question: str) -> str:
        """What tmux says of the terminal, such as ``#{alternate_on}``."""
        return self._tmux("display-message", "-p", question).strip()

    def await_text(self, text: str, *, seconds: float = 60) -> str:
        return wait_until(self.text, lambda shown: text in shown, f"the terminal shows {text!r}", seconds=seconds)

    def _tmux(self, *words: str) -> str:
        ran = subprocess.run(["tmux", "-u", "-L", self._socket, *words], check=True, capture_output=True, text=True)
        return ran.stdout
