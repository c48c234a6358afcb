"""Ids of the objects of a page, for links to them (HP-006)."""

import re
from typing import Final
from urllib.parse import quote

from grove_core.kernel.refs import Ref
from grove_shell.styled_text_page import escape_unprintable

OWN: Final = "-"
"""What ids of the page itself begin with; no name of an object of Kubernetes does."""
_BLANK: Final = re.compile(r"\s")


class HtmlAnchorIds:
    """Gives each object of a page its id: the name, or with namespace or kind where that is taken."""

    def __init__(self) -> None:
        self._by_ref: dict[Ref, str] = {}
        self._taken: set[str] = set()

    def id_of(self, ref: Ref) -> str:
        """Return the id of an object or of a replica (``name-replica``); a new one where it has none yet."""
        found = self._by_ref.get(ref)
        if found is None:
            name = ref.name if ref.replica is None else f"{ref.name}-{ref.replica}"
            full = f"{ref.namespace}/{name}"
            found = self.free_id(name, full, f"{ref.kind}/{full}")
            self._by_ref[ref] = found
        return found

    def link_to(self, ref: Ref) -> str:
        """Return the link to an object that has an id; empty where it has none."""
        found = self._by_ref.get(ref)
        return "" if found is None else link_to_id(found)

    def free_id(self, *names: str) -> str:
        """Return the first of these names that is free and may be an id, else the last one with a number."""
        allowed = [escape_unprintable(_BLANK.sub("_", name)) for name in names]
        for name in allowed:
            if name not in self._taken and name and not name.startswith(OWN):
                self._taken.add(name)
                return name
        serial = 2
        while f"{allowed[-1]}/{serial}" in self._taken:
            serial += 1
        found = f"{allowed[-1]}/{serial}"
        self._taken.add(found)
        return found


def link_to_id(name: str) -> str:
    """Return ``#name`` as a link has it."""
    return f"#{quote(name, safe='/:@!$&()*+,;=~')}"
