"""Renders a template as one self-contained HTML file: its style and script inline, allowed by their hashes alone."""

from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from grove_core.version import VERSION
from grove_shell.styled_text_page import escape_unprintable

TEMPLATES: Final = Path(__file__).with_name("templates")


def content_security_policy(style: str, script: str) -> str:
    """Return a policy that allows this style and this script, and nothing else: no request, no frame, no form."""
    return (
        f"default-src 'none'; style-src {_hash_source(style)}; script-src {_hash_source(script)};"
        " base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def fill_html_template(template: str, values: Mapping[str, Any]) -> str:
    """Return the file: the same values give the same text (HP-003).

    Args:
        template: the name of a file in ``templates``.
        values: what it shows; text in it is escaped (HP-002).
    """
    style, script = _asset("style.css"), _asset("script.js")
    text = (
        _environment()
        .get_template(template)
        .render(
            **values,
            style=Markup(style),  # noqa: S704 - a file of this package
            script=Markup(script),  # noqa: S704 - as above
            policy=content_security_policy(style, script),
            version=VERSION,
        )
    )
    return text if text.endswith("\n") else text + "\n"


def _hash_source(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@cache
def _asset(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8").strip()


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _printable(value: Any) -> Any:  # noqa: ANN401 - a value of any expression
    """Return text with unprintable characters escaped; markup of this package as it is."""
    return escape_unprintable(value) if type(value) is str else value
