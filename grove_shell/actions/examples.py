"""``grove example`` and ``grove schema``: what helps to write a manifest."""

from grove_shell.catalogue.examples import EXAMPLES, example_text
from grove_shell.exit_codes import DONE
from grove_shell.manifests.editor_schema import editor_schema
from grove_shell.styled_text_page import StyledTextPage, write_stdout
from grove_shell.views.renderers import RENDERERS, format_json_document


def print_example_names(output: str) -> int:
    """Print the names and meanings of the examples."""

    def page() -> StyledTextPage:
        shown, width = StyledTextPage(), max(map(len, EXAMPLES))
        for name, (_, meaning) in EXAMPLES.items():
            shown.add_line((f"{name:<{width}}", "bold"), f"  {meaning}")
        return shown

    RENDERERS[output].print_result(
        page=page, document=lambda: [{"name": name, "meaning": meaning} for name, (_, meaning) in EXAMPLES.items()]
    )
    return DONE


def print_example(name: str, output: str) -> int:
    """Print the file of an example, or the same as JSON (CL-118)."""
    text = example_text(name)
    if output == "json":
        import yaml  # noqa: PLC0415 - the file itself needs no parser

        text = format_json_document(yaml.safe_load(text))
    write_stdout(text)
    return DONE


def print_editor_schema(kind: str) -> int:
    """Print the JSON Schema of a kind (CL-119)."""
    write_stdout(format_json_document(editor_schema(kind)))
    return DONE
