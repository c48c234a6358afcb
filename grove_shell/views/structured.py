"""JSON and YAML: the same stable document in two spellings."""

import json
from typing import Any


def as_text(value: Any, output: str) -> str:  # noqa: ANN401 - any JSON
    """Write a JSON value as ``json`` or ``yaml``; keys stay in the order of the format."""
    if output == "json":
        return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    import yaml  # noqa: PLC0415 - JSON needs none of it

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text: str = yaml.dump(value, Dumper=dumper, sort_keys=False, allow_unicode=True, width=120)
    return text
