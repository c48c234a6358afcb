"""``grove webhooks``."""

from typing import Any

import click

from grove_shell.cli.options import IN_A_POD, connection_options


@click.command(short_help="serve the admission webhooks: defaults and validation of PodCliqueSets")
@connection_options(IN_A_POD)
@click.option(
    "-n",
    "--namespace",
    help="Namespace of the Service and of the Secret with the certificate.  [default: that of the context or the pod]",
)
@click.option("--watch-namespace", default="", metavar="NS", help="Watch PodCliqueSets of this namespace only.")
@click.option(
    "--config", type=click.Path(dir_okay=False, allow_dash=True), help="Configuration file (WebhookConfiguration)."
)
@click.option(
    "--url-host", default="", metavar="HOST", help="Host that the API server calls instead of the Service (for trials)."
)
def command(**options: Any) -> int:
    """Serve the admission webhooks: set defaults of PodCliqueSets, and refuse what `grove validate` refuses.

    With topologyAwareScheduling.enabled also for ClusterTopologies, unless --watch-namespace is given.

    Certificates are created, kept in a Secret that all replicas share, renewed in time, and registered; or they are
    files that something else renews (certificates.mode: manual). Reviews are served on port 9443; health, readiness
    and metrics on 8080.

    \b
    Examples:
      grove manifests --only webhooks | kubectl apply --server-side -f -
      grove webhooks -n grove-system --url-host 192.168.1.20     # outside the cluster, while you try it
      grove webhooks --config - <<'END'
      apiVersion: operator.config.grove.io/v1alpha1
      kind: WebhookConfiguration
      certificates: {mode: manual, directory: /etc/grove/certs}
      END

    Exit codes: 0 stopped by a signal, 1 bad configuration or cluster not reachable, 64 usage.
    """
    from grove_shell.actions.webhooks import run_webhooks

    return run_webhooks(**options)
