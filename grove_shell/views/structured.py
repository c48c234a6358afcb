"""JSON and YAML: the same stable document in two spellings."""

import json
import re
from typing import Any


def as_text(value: Any, output: str) -> str:  # noqa: ANN401 - any JSON
    """Write a JSON value as ``json`` or ``yaml``; keys stay in the order of the format."""
    if output == "json":
        return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    import yaml  # noqa: PLC0415 - JSON needs none of it

    class Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]  # which of the two it is shows at run time
        """Quotes also the short words for true and false of YAML 1.1, which PyYAML itself takes for text."""

    Dumper.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("[yYnN]$"), list("yYnN"))
    text: str = yaml.dump(value, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=120)
    return text
