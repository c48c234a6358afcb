"""``grove validate``."""

from typing import Any

import click

from grove_shell.cli.options import cluster_options, config_option, filename_option, output_option, rules_option


@click.command("validate")
@filename_option("Manifests to judge; other objects among them are counted, and their names count.", required=False)
@click.option("--old", "old", multiple=True, metavar="FILE|DIR", help="The manifests as they are now: judge an update.")
@config_option
@click.option("--preflight", is_flag=True, help="Judge instead whether an operator of that --config would start.")
@click.option("--live", is_flag=True, help="With --preflight: on the cluster itself.")
@cluster_options
@output_option
@rules_option()
def command(**options: Any) -> int:
    """Would these PodCliqueSets be admitted: the webhook's verdict offline, all problems at once.

    \b
    Examples:
      grove validate -f pcs.yaml
      grove validate -f new.yaml --old cluster.yaml     # may this be changed on a running set?
      grove validate -f pcs.yaml --config operator.yaml # with what this operator would ignore
      grove validate -f pcs.yaml --rules field          # with what will hurt on a cluster of today's operator
      grove validate --preflight --config operator.yaml --live

    A manifest is judged as strictly as for kubectl apply: unknown fields and pod templates too.  What a cluster has
    stored (it has a uid) is not judged for these.  Two sets that would share the name of an object are both refused.

    --preflight also reports names of Grove's definitions that another definition of their group has or asks for.

    Warnings are printed and do not fail. Exit codes: 0 admitted, 1 refused, bad input or nothing judged, 64 usage.
    """
    preflight, live = options.pop("preflight"), options.pop("live")
    where = {name: options.pop(name) for name in ("kubeconfig", "context", "everywhere")}
    filenames, config, rules = options["filenames"], options["config"], options.pop("rules")
    if not preflight:
        if live or any(where.values()):
            raise click.UsageError("--live, --kubeconfig, --context and -A are of --preflight")
        if not filenames:
            raise click.UsageError("nothing to judge: -f FILE")
        from grove_shell.actions.validate import validate

        return validate(**options, rules=rules)
    if options["old"] or rules is not None or options["output"] != "human":
        raise click.UsageError("--old, --rules and -o are of manifests, and --preflight judges a configuration")
    if config is None or (not live and not filenames):
        raise click.UsageError("--preflight needs --config, and -f FILE or --live")
    from grove_shell.actions.preflight import preflight as judge
    from grove_shell.actions.source import Live, Source

    return judge(Source(filenames=filenames, live=Live(**where) if live else None, config=config))
