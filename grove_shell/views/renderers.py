"""The values of ``-o``: each is an entry of ``RENDERERS``, and a format of every command is added here alone."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from grove_shell.styled_text_page import (
    StyledTextPage,
    escape_unprintable_characters,
    is_printable,
    json_text,
    print_page,
    write_stdout,
)


def format_json_document(value: Any) -> str:  # noqa: ANN401 - any JSON
    """Write a JSON value as indented JSON; keys keep their order, unprintable characters are escaped (CL-049)."""
    return json_text(value, indent=2) + "\n"


def format_yaml_document(value: Any) -> str:  # noqa: ANN401 - any JSON
    """Write a JSON value as YAML; keys keep their order, unprintable characters are escaped (CL-049)."""
    import yaml  # noqa: PLC0415 - JSON needs none of it

    class Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]  # which of the two it is shows at run time
        """Quotes also ``y`` and ``n``, which YAML 1.1 reads as true and false and PyYAML writes as plain text."""

    def represented(dumper: Any, text: str) -> Any:  # noqa: ANN401 - of whichever dumper
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if is_printable(text) else '"')

    Dumper.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("[yYnN]$"), list("yYnN"))
    Dumper.add_representer(str, represented)
    text: str = yaml.dump(value, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=120)
    return text if is_printable(text) else escape_unprintable_characters(text, lambda char: f"\\U{ord(char):08x}")


def _json_list(objects: Sequence[Any]) -> str:
    return format_json_document({"apiVersion": "v1", "kind": "List", "items": objects})


def _yaml_stream(objects: Sequence[Any]) -> str:
    return "".join(f"---\n{format_yaml_document(one)}" for one in objects)


@dataclass(frozen=True, slots=True)
class DocumentFormat:
    """One format of documents.

    Attributes:
        document: a JSON value -> its text.
        objects: Kubernetes objects -> one text that ``kubectl apply -f`` reads.
    """

    document: Callable[[Any], str]
    objects: Callable[[Sequence[Any]], str]


SERIALIZERS: Final[Mapping[str, DocumentFormat]] = MappingProxyType(
    {
        "json": DocumentFormat(format_json_document, _json_list),
        "yaml": DocumentFormat(format_yaml_document, _yaml_stream),
    }
)
"""Formats of commands that print a document and have no page."""


@dataclass(frozen=True, slots=True)
class OutputRenderer:
    """One value of ``-o`` of commands that have a page.

    Attributes:
        shows_page: whether it prints the page, which holds notes and warnings; where not, commands print these on
            standard error.
        text: the page and the document of a result, each made when it is called -> what to print.
        is_markdown: whether it prints the Markdown of a result that has one of its own.
    """

    shows_page: bool
    text: Callable[[Callable[[], StyledTextPage], Callable[[], Any]], StyledTextPage | str]
    is_markdown: bool = False

    def print_result(
        self,
        *,
        page: Callable[[], StyledTextPage],
        document: Callable[[], Any],
        markdown: Callable[[], str] | None = None,
    ) -> None:
        """Print a result on standard output.

        Args:
            markdown: makes its Markdown (CL-090); None where that is made of the page.
        """
        own = markdown() if self.is_markdown and markdown is not None else None
        found = self.text(page, document) if own is None else own
        if isinstance(found, StyledTextPage):
            print_page(found)
        else:
            write_stdout(found)


def _markdown_of_page(page: Callable[[], StyledTextPage], _document: Callable[[], Any]) -> str:
    from grove_shell.views.markdown_page import page_as_markdown  # noqa: PLC0415 - few results are Markdown (P11)

    return page_as_markdown(page())


def _of_documents(serializer: DocumentFormat) -> OutputRenderer:
    return OutputRenderer(shows_page=False, text=lambda _page, document: serializer.document(document()))


RENDERERS: Final[Mapping[str, OutputRenderer]] = MappingProxyType(
    {
        "human": OutputRenderer(shows_page=True, text=lambda page, _document: page()),
        **{name: _of_documents(serializer) for name, serializer in SERIALIZERS.items()},
        "markdown": OutputRenderer(shows_page=True, text=_markdown_of_page, is_markdown=True),
    }
)
"""The values of ``-o``; the first is the default."""

ANNOTATION_FORMATS: Final = ("github", "sarif")
"""More values of ``-o`` of ``grove validate``, for code review."""
