"""``grove snapshot``: writes the objects of a cluster into one file."""

import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from grove_shell.actions.command_input import LiveClusterOptions
from grove_shell.actions.live_cluster_lists import list_objects_of_all_kinds
from grove_shell.client.nesting_limit import TOO_DEEP, fields_below_nesting_limit
from grove_shell.exit_codes import DONE
from grove_shell.reading.input_completeness import snapshot_header_item
from grove_shell.reading.input_items import object_name_in_faults
from grove_shell.redaction import ObjectRedaction
from grove_shell.styled_text_page import print_error, write_stdout
from grove_shell.views.formatting import count_with_noun
from grove_shell.views.renderers import SERIALIZERS

_SALT: int = 16


def write_snapshot_file(live: LiveClusterOptions, out: str | None, output: str, *, whole: bool) -> int:
    """List, redact and write the objects; return the exit code (CL-001). The file is written whole or not at all.

    Args:
        out: the file; None for stdout.
        output: a key of ``SERIALIZERS``.
        whole: whether values stay that are otherwise replaced by hashes.
    """
    found = list_objects_of_all_kinds(live)
    first, items = snapshot_header_item(found, datetime.now(UTC)), [*found.items]
    if not whole:
        first, *items = ObjectRedaction(os.urandom(_SALT)).redacted_objects([first, *items])
    captured = {"apiVersion": "v1", "kind": "List", "metadata": {}, "items": [first, *items]}
    text = SERIALIZERS[output].document(captured)
    if out is None:
        write_stdout(text)
    else:
        _write(Path(out), text)
    print_error(_summary(items, found.origin, out))
    if not any(one.get("kind") == "PodCliqueSet" for one in items):
        print_error(f"no PodCliqueSet is among them{'' if live.everywhere else '; -n names another namespace, -A all'}")
    for one in found.items:
        for field in fields_below_nesting_limit(one):
            print_error(f"not read whole: {object_name_in_faults(one)}: {field}: {TOO_DEEP}")
    for why in found.not_listed.values():
        print_error(f"not shown to us: {why}")
    return DONE


def _write(path: Path, text: str) -> None:
    """Write a temporary file and rename it, so that an interruption keeps the old file.

    A device or a pipe, such as ``/dev/stdout``, is written to and never replaced; of a link, what it leads to.

    Raises:
        OSError: with the path as it was given.
    """
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    place = path.resolve()
    temporary = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(place)
    except OSError as fault:
        raise OSError(fault.errno, fault.strerror, str(path)) from fault
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _summary(items: list[dict[str, Any]], origin: str, out: str | None) -> str:
    where = f" into {out}" if out is not None else ""
    return f"{count_with_noun(len(items), 'object')} of {origin}{where}\n"
