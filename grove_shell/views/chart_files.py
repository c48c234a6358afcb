"""Charts as files: the same figure gives the same bytes (SM-010, CL-094)."""

import warnings
from collections.abc import Callable
from typing import Any, Final

import matplotlib as mpl
from matplotlib.figure import Figure

_STYLE: Final[dict[Any, Any]] = {
    "svg.hashsalt": "grove",
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "text.parse_math": False,
}


def save_chart(figure_of: Callable[[], Figure], path: str) -> None:
    """Make a figure and save it, as ``.svg`` or ``.png``.

    Raises:
        OSError: the file cannot be written.
    """
    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # a name may have any character
        metadata = {"Date": None, "Creator": "grove"} if path.endswith(".svg") else {"Software": "grove"}
        figure_of().savefig(path, dpi=144, metadata=metadata, facecolor="white")
