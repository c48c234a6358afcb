"""``grove validate``."""

import click

from grove_shell.cli.options import filename_option, format_option


@click.command("validate")
@filename_option("Manifests to judge; other objects among them are counted, and their names count.")
@click.option("--old", "old", multiple=True, metavar="FILE|DIR", help="The manifests as they are now: judge an update.")
@format_option("human", "json", "yaml")
def command(filenames: tuple[str, ...], old: tuple[str, ...], output: str) -> int:
    """Would these PodCliqueSets be admitted: the webhook's verdict offline, all problems at once.

    \b
    Examples:
      grove validate -f pcs.yaml
      grove validate -f new.yaml --old cluster.yaml     # may this be changed on a running set?

    A manifest is judged as strictly as for kubectl apply: unknown fields and pod templates too.  What a cluster has
    stored (it has a uid) is not judged for these.  Two sets that would share the name of an object are both refused.

    Warnings are printed and do not fail. Exit codes: 0 admitted, 1 refused, bad input or nothing judged, 64 usage.
    """
    from grove_shell.actions.validate import validate

    return validate(filenames, old, output)
