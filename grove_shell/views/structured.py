"""JSON and YAML: the same stable document in two spellings."""

import re
from typing import Any

from grove_shell.json_text import escaped, is_shown, json_text


def as_text(value: Any, output: str) -> str:  # noqa: ANN401 - any JSON
    """Write a JSON value as ``json`` or ``yaml``; keys stay in the order of the format (CL-049)."""
    if output == "json":
        return json_text(value, indent=2) + "\n"
    import yaml  # noqa: PLC0415 - JSON needs none of it

    class Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]  # which of the two it is shows at run time
        """Quotes also the short words for true and false of YAML 1.1, which PyYAML itself takes for text."""

    def represented(dumper: Any, text: str) -> Any:  # noqa: ANN401 - of whichever dumper
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if is_shown(text) else '"')

    Dumper.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("[yYnN]$"), list("yYnN"))
    Dumper.add_representer(str, represented)
    text: str = yaml.dump(value, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=120)
    return text if is_shown(text) else escaped(text, lambda char: f"\\U{ord(char):08x}")
