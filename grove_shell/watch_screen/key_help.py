"""The help of the screen: its keys and its words."""

from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

KEY_HELP: Final = """\
q          leave the screen
up, down   select a row (also k, j, page up, page down, home, end)
right      open a row; left closes it, or goes to the row around it
n          go to the next termination
/          search names, states, nodes and messages; / and Enter: the next one
a          show only sets that need attention, or all
e          show the plan of the edit, or the reasons again
i          show the notes of the plan: what the input lacks, warnings
tab        go to the pane beside the list, to scroll it
?          this help; any of ? q Escape closes it

ends in    time left until the replica is terminated, if nothing changes
inside     the state is that of something inside the row
waiting    too few pods are ready; the delay of the termination runs
will end   the operator terminates it now
breached   too few pods are ready
gated      pods are held by a scheduling gate

The plan is made anew when the cluster or a file changes, and when a
deadline passes.  Between these only the clocks change.  Nothing is
written to the cluster."""


class KeyHelp(ModalScreen[None]):
    """The keys and words of the screen."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,question_mark,q", "dismiss", show=False)]
    CSS = """
    KeyHelp { align: center middle; }
    KeyHelp VerticalScroll {
        width: 78; max-width: 100%; height: auto; max-height: 100%;
        border: round $foreground; padding: 0 1; background: $surface;
    }
    """

    def compose(self) -> ComposeResult:
        """Yield the text in a box."""
        with VerticalScroll():
            yield Static(Text(KEY_HELP))
