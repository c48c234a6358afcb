"""The layout of the screen: the pane is below the list on narrow terminals, beside it on wide ones."""

from typing import Final

BREAKPOINTS: Final = [(0, "-narrow"), (110, "-wide"), (160, "-widest")]
"""Least width in cells -> class of the screen."""
STYLE: Final = """
#headline, #clock, #trouble { height: auto; max-height: 3; padding: 0 1; }
#trouble { display: none; }
#trouble.-shown { display: block; }
#body { height: 1fr; layout: vertical; }
#clock { max-height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
#objects, .pane { scrollbar-size-vertical: 1; scrollbar-gutter: stable; border-top: solid $foreground 30%; }
#objects { overflow-x: hidden; height: 3fr; }
#panes { height: 2fr; layout: vertical; }
.pane { padding: 0 1; height: 1fr; }
.pane:focus { border-top: heavy $foreground; }
#edit { display: none; }
.-edits #edit { display: block; }
.-edits #reasons { display: none; }
#search { display: none; height: 1; border: none; padding: 0 1; }
#search.-shown { display: block; }
#keys { height: 1; }
.-wide #body, .-widest #body { layout: horizontal; }
.-wide #objects, .-widest #objects { width: 13fr; height: 1fr; }
.-wide #panes, .-widest #panes { width: 9fr; height: 1fr; }
.-has-edits .-widest #panes { layout: horizontal; width: 14fr; }
.-has-edits .-widest #reasons, .-has-edits .-widest #edit { display: block; width: 1fr; }
"""
"""The style sheet."""
