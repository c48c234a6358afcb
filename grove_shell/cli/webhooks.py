"""``grove webhooks``."""

import click


@click.command(short_help="serve admission: defaults and validation of PodCliqueSets")
@click.option("--kubeconfig", type=click.Path(dir_okay=False), help="Else KUBECONFIG, else the account of the pod.")
@click.option("--context", help="Of the kubeconfig.")
@click.option("-n", "--namespace", help="Where the Service and the Secret with the certificate are.  [default: ours]")
@click.option("--watch-namespace", default="", metavar="NS", help="Know the sets of one namespace only.")
@click.option("--config", type=click.Path(dir_okay=False, allow_dash=True), help="A WebhookConfiguration.")
@click.option(
    "--url-host", default="", metavar="HOST", help="The API server calls us here, and no Service (to try it)."
)
def command(**options: str | None) -> int:
    """Say to an API server what `grove validate` says, and write defaults down, for every PodCliqueSet it stores.

    With topologyAwareScheduling.enabled also about every ClusterTopology, unless one namespace alone is watched.

    Certificates are made, kept in a Secret that replicas share, renewed in time, and registered; or they are files
    that somebody else renews (certificates.mode: manual). Reviews are answered at port 9443; health, readiness and
    metrics at 8080.

    \b
    Examples:
      grove manifests --only webhooks | kubectl apply --server-side -f -
      grove webhooks -n grove-system --url-host 192.168.1.20     # outside the cluster, while you try it
      grove webhooks --config - <<'END'
      apiVersion: operator.config.grove.io/v1alpha1
      kind: WebhookConfiguration
      certificates: {mode: manual, directory: /etc/grove/certs}
      END

    Exit codes: 0 stopped by a signal, 1 bad configuration or no way to the cluster, 64 usage.
    """
    from grove_shell.actions.webhooks import WebhookOptions, serve

    return serve(WebhookOptions(**options))  # type: ignore[arg-type]  # click hands over what the options say
