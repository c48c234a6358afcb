"""Pages as a reader of HTML sees them: elements, attributes, text, ids, links; and pages made of dumps."""

import json
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

import yaml

from grove_shell.cli.main import run_command_line
from tests.command_line.process import ROOT

REAL: Final = ROOT / "examples" / "real-cluster.yaml"
EXAMPLES: Final = ROOT / "examples"
_WITHOUT_END: Final = frozenset({"meta", "input", "link", "br", "img"})
_NOT_SHOWN: Final = frozenset({"style", "script", "title"})
HOSTILE: Final = "\"'><img src=x onerror=alert(1)></title></style><script>alert(2)</script>{{ 7 * 7 }}\u202e\x1b[31m"
"""A text that would be markup, script, a template or a control sequence where it is not escaped."""


@dataclass
class Document(HTMLParser):
    """A parsed page.

    Attributes:
        tags: every element with its attributes, in order.
        text: what is shown, without style and script.
        styles, scripts: the content of such elements.
        unbalanced: end tags that close another element than the innermost one.
    """

    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    text: str = ""
    styles: list[str] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)
    unbalanced: list[str] = field(default_factory=list)
    _open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in _WITHOUT_END:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1] == tag:
            self._open.pop()
        else:
            self.unbalanced.append(tag)

    def handle_data(self, data: str) -> None:
        where = self._open[-1] if self._open else ""
        if where == "style":
            self.styles.append(data)
        elif where == "script":
            self.scripts.append(data)
        if where not in _NOT_SHOWN:
            self.text += data

    @property
    def left_open(self) -> list[str]:
        return self._open

    @property
    def ids(self) -> list[str]:
        return [str(attributes["id"]) for _, attributes in self.tags if "id" in attributes]

    @property
    def links(self) -> list[str]:
        return [str(attributes["href"]) for _, attributes in self.tags if "href" in attributes]

    @property
    def targets(self) -> set[str]:
        """The ids that links, pictures and buttons of the page lead to."""
        found = {unquote(link[1:]) for link in self.links if link.startswith("#")}
        return found | {
            str(attributes["popovertarget"]) for _, attributes in self.tags if "popovertarget" in attributes
        }

    @property
    def policy(self) -> str:
        (found,) = [a["content"] for _, a in self.tags if a.get("http-equiv") == "Content-Security-Policy"]
        return str(found)

    @property
    def words(self) -> str:
        """The text with single blanks."""
        return " ".join(self.text.split())


def parsed(html: str) -> Document:
    found = Document()
    found.feed(html)
    found.close()
    return found


class Run(NamedTuple):
    """A command that ran in this process."""

    code: int
    out: str
    errors: str


def run(*words: str) -> Run:
    out, errors = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(errors):
        code = run_command_line(words, "grove")
    return Run(code, out.getvalue(), errors.getvalue())


def page_of(folder: Path, *words: str, command: str = "plan", code: int = 0) -> str:
    """Run a command with --html and return the file."""
    path = folder / "page.html"
    done = run(*command.split(), *words, "--html", str(path))
    assert done.code == code, done.errors
    return path.read_text(encoding="utf-8")


def objects_of(path: Path) -> Any:
    """Return the objects of a YAML list."""
    return yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)


def hostile_dump(folder: Path) -> Path:
    """Return the real dump with texts that are full of markup: labels, messages, nodes, reasons, images."""
    changed = walked(objects_of(REAL), _hostile)
    path = folder / "hostile.json"
    path.write_text(json.dumps(changed), encoding="utf-8")
    return path


def _hostile(key: str, value: str) -> str:
    if key == "reason" and value != "SchedulingGated":
        return f"{value}{HOSTILE}"
    return f"{value}{HOSTILE}" if key in {"message", "nodeName", "image", "app.example.com/role"} else value


def walked(value: Any, change: Callable[[str, str], str], key: str = "") -> Any:
    """Return a JSON value with every text changed, given the key that it is under."""
    if isinstance(value, dict):
        return {name: walked(inner, change, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [walked(inner, change, key) for inner in value]
    return change(key, value) if isinstance(value, str) else value
