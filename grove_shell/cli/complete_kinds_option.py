"""``--complete``: the kinds of which the user says that the input has every object (IN-054)."""

from typing import Any, Final

import click

ALL: Final = "all"


class CompleteKindsOption(click.ParamType[tuple[str, ...]]):
    """Kinds as ``kubectl get`` takes them, with commas, or ``all``."""

    name = "KINDS"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Return the kinds; an unknown name is a usage error that lists the known ones."""
        from grove_core.snapshot.snapshot import EVERY_KIND
        from grove_shell.client.api_kinds import KINDS
        from grove_shell.client.kind_names import kind_named

        if value == ALL:
            return tuple(sorted(EVERY_KIND))
        found = []
        for name in str(value).lower().split(","):
            kind = kind_named(name)
            if not kind:
                plurals = ", ".join(sorted(one.plural for one in KINDS.values()))
                self.fail(f"{name!r} is none of {ALL}, {plurals}", param, ctx)
            found.append(kind)
        return tuple(found)


complete_kinds_option = click.option(
    "--complete",
    type=CompleteKindsOption(),
    help="Kinds of which the input has every object, as given to kubectl get (pcs,pcsg,pclq,pods,podgangs), or all;"
    " what is missing of them is created.",
)
