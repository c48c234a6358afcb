"""``grove manifests``."""

import click

from grove_shell.cli.options import format_option


@click.command("manifests")
@click.option("--only", "parts", type=click.Choice(["crds"]), multiple=True, help="Only this part; may be repeated.")
@format_option("yaml", "json")
def command(parts: tuple[str, ...], output: str) -> int:
    """Print what has to be in a cluster before Grove is: the custom resource definitions.

    They are made from the same models that `grove validate` and `grove plan` read manifests with.  -o json prints
    one List.

    \b
    Examples:
      grove manifests | kubectl apply --server-side -f -
      grove manifests --only crds > crds.yaml

    Without --server-side kubectl keeps a copy in an annotation, for which the definitions are too large.

    Exit codes: 0 done, 64 usage.
    """
    from grove_shell.actions.manifests import manifests

    return manifests(parts, output)
