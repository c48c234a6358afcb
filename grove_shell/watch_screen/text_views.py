"""What shows text on the screen: a pane with a page, and the help with its keys and its words."""

from typing import ClassVar, Final

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from grove_shell.styled_text_page import StyledTextPage, wrapped_line

_KEY_HELP: Final = """\
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


class PagePane(VerticalScroll):
    """A pane that shows one page at a time and scrolls; none of its text is read as markup (WA-008).

    Lines are wrapped to its width with hanging indents (CL-089).
    """

    def __init__(self, widget_id: str, first: str = "") -> None:
        super().__init__(id=widget_id, classes="pane")
        self._text = Static(Text())
        self._page = StyledTextPage()
        if first:
            self._page.add_line(first)

    @property
    def page(self) -> StyledTextPage:
        """The page that is shown."""
        return self._page

    def compose(self) -> ComposeResult:
        """Yield the text."""
        yield self._text

    def show(self, page: StyledTextPage) -> None:
        """Show another page, from its top unless it begins like the one before."""
        is_same_subject = self._page.lines[:1] == page.lines[:1]
        self._page = page
        self._draw()
        if not is_same_subject:
            self.scroll_home(animate=False)

    def on_resize(self, _event: events.Resize) -> None:
        """Wrap the page to the new width."""
        self._draw()

    def _draw(self) -> None:
        width = max(self.scrollable_content_region.width, 1)
        lines = (part for line in self._page.lines for part in wrapped_line(line, width))
        self._text.update(Text("\n").join(Text.assemble(*line) for line in lines))


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
            yield Static(Text(_KEY_HELP))
