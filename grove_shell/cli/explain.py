"""``grove explain``."""

from typing import Any

import click

from grove_shell.cli.options import output_option, rules_option, source_from_options, source_options


@click.command("explain")
@click.argument("target", metavar="KIND/NAME")
@source_options
@output_option
@rules_option()
@click.option("--why-not", type=click.Choice(["terminate"]), help="Show only why nothing is terminated.")
def command(target: str, **options: Any) -> int:
    """Show why one object is as it is, and what the operator will do with it.

    KIND is pcs, pcsg, pclq, pod, podgang or computedomain, or the full name of the kind.

    \b
    Examples:
      grove explain -f cluster.yaml pclq/llama-0-decode
      grove explain -f cluster.yaml pcs/llama --why-not terminate
      grove explain -f cluster.yaml pcs/llama --rules field        # under the rules of the Go operator
      grove explain -f cluster.yaml pod/llama-0-decode-x7k2p

    Exit codes: 0 done, 1 bad input, 64 usage or no such object.
    """
    source = source_from_options(options)
    from grove_shell.actions.explain import explain

    return explain(source, target, **options)
