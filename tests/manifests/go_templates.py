"""As much of Helm's templates as the chart uses, for machines without Helm; ``nox -s helm`` compares it with Helm.

Text, actions with trimmed white space, ``if``, ``with``, ``range`` over lists, ``define``, variables, pipelines and the
functions of ``template_functions``. Anything else is an error.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from tests.manifests.template_functions import FUNCTIONS, Fail, shown, truth

Json = dict[str, Any]
_ACTION: Final = re.compile(
    r"\{\{(-\s)?\s*((?:`[^`]*`|\"(?:\\.|[^\"\\])*\"|(?!\}\}|\s-\}\}).)*?)\s*(\s-)?\}\}", re.DOTALL
)
_TOKEN: Final = re.compile(r"\s*(\"(?:\\.|[^\"\\])*\"|`[^`]*`|:=|[()|=,]|\$?(?:\.?\w+)+|\$|\.|-?\d+)")
_OPENING: Final = frozenset({"if", "with", "range", "define"})
__all__ = ["Fail", "Templates"]


@dataclass(slots=True)
class _Node:
    """A text, an action, or a block with its branches: the words of each, and what is inside."""

    kind: str
    words: str = ""
    branches: "list[tuple[str, list[_Node]]]" = field(default_factory=list)


def _pieces(text: str) -> Iterator[_Node]:
    """Yield texts and actions, with white space trimmed where an action says so."""
    place, trims = 0, False
    for match in _ACTION.finditer(text):
        before = text[place : match.start()]
        before = before.lstrip() if trims else before
        yield _Node("text", before.rstrip() if match[1] else before)
        if not match[2].startswith("/*"):
            yield _Node("action", match[2].strip())
        place, trims = match.end(), bool(match[3])
    yield _Node("text", text[place:].lstrip() if trims else text[place:])


def _parsed(pieces: Iterator[_Node]) -> list[_Node]:
    """Return the nodes up to the end of the block that is open."""
    found: list[_Node] = []
    open_blocks: list[tuple[_Node, list[_Node]]] = []
    for piece in pieces:
        first, _, rest = piece.words.partition(" ") if piece.kind == "action" else ("", "", "")
        if first in _OPENING:
            block = _Node(first, branches=[(rest, [])])
            found.append(block)
            open_blocks.append((block, found))
            found = block.branches[0][1]
        elif first == "else":
            open_blocks[-1][0].branches.append((rest.removeprefix("if "), []))
            found = open_blocks[-1][0].branches[-1][1]
        elif first == "end":
            _, found = open_blocks.pop()
        else:
            found.append(piece)
    assert not open_blocks
    return found


class Templates:
    """The templates of a chart: their named parts, and what their functions read.

    Args:
        texts: of the templates.
        files: of the chart, for ``.Files``.
    """

    def __init__(self, texts: dict[str, str], files: dict[str, str]) -> None:
        self._named: dict[str, list[_Node]] = {}
        self._bodies = {name: _parsed(_pieces(text)) for name, text in texts.items()}
        self._files = files
        for body in self._bodies.values():
            self._named |= {
                node.branches[0][0].strip('"'): node.branches[0][1] for node in body if node.kind == "define"
            }

    def render(self, name: str, values: Json, release: Json) -> str:
        """Return what a template renders to.

        Raises:
            Fail: a template refuses the values.
        """
        root = {"Values": values, "Release": release, "Files": self._files}
        return self._body(self._bodies[name], root, {"$": root})

    def _body(self, nodes: list[_Node], dot: Any, names: Json) -> str:
        return "".join(self._node(node, dot, names) for node in nodes)

    def _node(self, node: _Node, dot: Any, names: Json) -> str:
        if node.kind == "text":
            return node.words
        if node.kind == "action":
            return self._action(node.words, dot, names)
        if node.kind == "range":
            (words, inner) = node.branches[0]
            listed = self._value(words, dot, names)
            return "".join(self._body(inner, one, _Scope(names)) for one in listed)
        if node.kind == "define":
            return ""
        for words, inner in node.branches:
            found = self._value(words, dot, names) if words else True
            if truth(found):
                return self._body(inner, found if node.kind == "with" and words else dot, _Scope(names))
        return ""

    def _action(self, words: str, dot: Any, names: Json) -> str:
        name, sign, rest = words.partition("=")
        if name.strip(" :").startswith("$") and sign and '"' not in name:
            value = self._value(rest, dot, names)
            target = names if name.endswith(":") else _owner(names, name.strip())
            target[name.strip(" :")] = value
            return ""
        return shown(self._value(words, dot, names))

    def _value(self, words: str, dot: Any, names: Json) -> Any:
        tokens = [match[1] for match in _TOKEN.finditer(words)]
        value = _Pipeline(self, tokens, dot, names).value()
        assert not tokens, words
        return value

    def include(self, name: str, dot: Any) -> str:
        """Return what a named template renders to."""
        return self._body(self._named[name], dot, {"$": dot})


class _Scope(dict[str, Any]):
    """Variables of a block; those of the blocks around it are seen and can be set."""

    def __init__(self, outer: Json) -> None:
        super().__init__()
        self.outer = outer

    def __missing__(self, name: str) -> Any:
        return self.outer[name]


def _owner(names: Json, name: str) -> Json:
    while name not in names and isinstance(names, _Scope):
        names = names.outer
    return names


class _Pipeline:
    """The value of the tokens of an action, which it consumes."""

    def __init__(self, templates: Templates, tokens: list[str], dot: Any, names: Json) -> None:
        self._templates = templates
        self._tokens = tokens
        self._dot = dot
        self._names = names

    def value(self) -> Any:
        found = self._command([])
        while self._tokens and self._tokens[0] == "|":
            self._tokens.pop(0)
            found = self._command([found])
        return found

    def _command(self, last: list[Any]) -> Any:
        head = self._tokens.pop(0)
        if head in FUNCTIONS or head == "include":
            arguments = []
            while self._tokens and self._tokens[0] not in "|)":
                arguments.append(self._operand(self._tokens.pop(0)))
            if head == "include":
                return self._templates.include(*arguments, *last)
            return FUNCTIONS[head](*arguments, *last)
        if head == ".Files.Get":
            return self._dot["Files"][self._operand(self._tokens.pop(0))]
        return self._operand(head)

    def _operand(self, token: str) -> Any:
        if token == "(":  # noqa: S105 - a token of a template
            found = self.value()
            assert self._tokens.pop(0) == ")"
            return found
        if token[0] in '"`':
            return token[1:-1]
        if token[0] == ".":
            return _at(self._dot, token)
        if token[0] == "$":
            name, _, path = token.partition(".")
            return _at(self._names[name], f".{path}")
        if token in {"true", "false"}:
            return token == "true"  # noqa: S105 - as above
        return FUNCTIONS[token]() if token in FUNCTIONS else int(token)


def _at(found: Any, path: str) -> Any:
    for step in path.split("."):
        found = found.get(step) if step else found
    return found
