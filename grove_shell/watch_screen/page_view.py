"""A pane that shows a page and scrolls, wrapped to its width with hanging indents (CL-089)."""

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from grove_shell.styled_text_page import StyledTextPage, wrapped_line


class PageView(VerticalScroll):
    """Shows one page at a time; none of its text is read as markup (WA-008)."""

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
