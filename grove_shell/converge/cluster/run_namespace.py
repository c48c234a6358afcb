"""The namespace of a run, with a service account that has the permissions of daemons, and a domain."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from grove_core.resources.api_names import NVIDIA
from grove_core.resources.object_metadata import metadata_in
from grove_shell.client.api_session import APPLY, ApiSession
from grove_shell.client.connection_settings import ClusterAccessError
from grove_shell.client.rbac_rules import DAEMON, DOMAIN_CONTROLLER
from grove_shell.domain_daemon.daemon_requests import CLIQUES, DOMAINS
from grove_shell.manifests.installation import rbac_rules_from_access

DOMAIN_NAME: Final = "domain"
ACCOUNT: Final = "daemons"
_WARMUP: Final = "warm-up"
_WARM_UP_WRITES: Final = 50
_RBAC: Final = "rbac.authorization.k8s.io"


async def check_compute_domain_crds_installed(api: ApiSession) -> None:
    """Check that both kinds are installed.

    Raises:
        ClusterAccessError: a kind is missing, or may not be listed.
    """
    for kind in (DOMAINS, CLIQUES):
        response = await api.request("GET", kind.url_path("default"), query={"limit": "1"})
        if not response.is_success:
            more = "grove manifests --only crds --with compute-domains | kubectl apply --server-side -f -"
            raise ClusterAccessError(f"{api.connection.server}: {kind.kind}: {response.error_message.strip()}; {more}")


class ConvergenceRunNamespace:
    """Creates and deletes the namespace with the user's permissions; daemons use the service account in it."""

    def __init__(self, api: ApiSession) -> None:
        """Choose a name; nothing is created yet."""
        self.name = f"converge-{uuid4().hex[:10]}"
        self._api = api

    async def create_namespace_and_account(self) -> str:
        """Create namespace, service account and role; return the token of the account."""
        where = {"namespace": self.name}
        await self._create("/api/v1/namespaces", {"kind": "Namespace", "metadata": {"name": self.name}})
        accounts = f"/api/v1/namespaces/{self.name}/serviceaccounts"
        await self._create(accounts, {"kind": "ServiceAccount", "metadata": {"name": ACCOUNT, **where}})
        roles = f"/apis/{_RBAC}/v1/namespaces/{self.name}"
        rules = rbac_rules_from_access((*DAEMON, *DOMAIN_CONTROLLER))
        role = {"kind": "Role", "metadata": {"name": ACCOUNT, **where}, "rules": rules}
        await self._create(f"{roles}/roles", role)
        subject = {"kind": "ServiceAccount", "name": ACCOUNT, **where}
        bound = {"apiGroup": _RBAC, "kind": "Role", "name": ACCOUNT}
        binding = {
            "kind": "RoleBinding",
            "metadata": {"name": ACCOUNT, **where},
            "roleRef": bound,
            "subjects": [subject],
        }
        await self._create(f"{roles}/rolebindings", binding)
        created = await self._create(
            f"{accounts}/{ACCOUNT}/token", {"kind": "TokenRequest", "spec": {"expirationSeconds": 7200}}
        )
        return str(created["status"]["token"])

    async def warm_up_server_with_write(self) -> None:
        """Write to another object, so that no run includes what a server does only once."""
        await self.create_domain(_WARMUP, 1)
        for number in range(_WARM_UP_WRITES):
            entry = {"name": "n", "ipAddress": "10.0.0.1", "cliqueID": "c", "index": number, "status": "NotReady"}
            await self.apply_daemon_entry(_WARMUP, "warm-up", entry)
        await self._api.request("DELETE", DOMAINS.url_path(self.name, _WARMUP))

    async def apply_daemon_entry(self, domain: str, manager: str, entry: Mapping[str, Any]) -> None:
        """Apply one entry to a domain.

        Raises:
            ClusterAccessError: the server refuses it.
        """
        body = {"apiVersion": NVIDIA, "kind": DOMAINS.kind, "metadata": {"name": domain}, "status": {"nodes": [entry]}}
        path = DOMAINS.url_path(self.name, domain, "status")
        query = {"fieldManager": manager, "force": "true"}
        response = await self._api.request("PATCH", path, query=query, body=body, content_type=APPLY)
        if not response.is_success:
            raise ClusterAccessError(f"{path}: {response.error_message}")

    async def create_domain(self, name: str, nodes: int) -> str:
        """Create a domain for this number of nodes; return its uid."""
        spec = {"numNodes": nodes, "channel": {"resourceClaimTemplate": {"name": "channel"}}}
        body = {"apiVersion": NVIDIA, "kind": DOMAINS.kind, "metadata": {"name": name}, "spec": spec}
        created = await self._create(DOMAINS.url_path(self.name), body)
        return metadata_in(created).uid

    async def delete_namespace(self) -> None:
        """Delete all objects and the namespace; without a namespace controller the namespace stays in Terminating."""
        for kind in (CLIQUES, DOMAINS):
            await self._api.request("DELETE", kind.url_path(self.name))
        await self._api.request("DELETE", f"/api/v1/namespaces/{self.name}")

    async def _create(self, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        group = path.split("/namespaces", maxsplit=1)[0].removeprefix("/apis/").removeprefix("/api/")
        version = "authentication.k8s.io/v1" if body["kind"] == "TokenRequest" else group
        for retries in (2, 1, 0):
            response = await self._api.request("POST", path, body={"apiVersion": version, **body})
            if response.is_success:
                created: Mapping[str, Any] = response.json_body()
                return created
            if retries:
                await asyncio.sleep(0.5)  # the server may not have observed a new namespace or role yet
        raise ClusterAccessError(f"{path}: {response.error_message}")


def write_service_account_kubeconfig(
    path: Path, server: str, authority: str | None, token: str, namespace: str
) -> None:
    """Write a self-contained kubeconfig for the service account, readable by its owner alone.

    Args:
        server: address of the API server.
        authority: its CA certificates, as PEM in base64; None if they are not verified.
        token: of the service account.
        namespace: that commands use by default.
    """
    trust = {"certificate-authority-data": authority} if authority else {"insecure-skip-tls-verify": True}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": ACCOUNT,
        "clusters": [{"name": ACCOUNT, "cluster": {"server": server, **trust}}],
        "users": [{"name": ACCOUNT, "user": {"token": token}}],
        "contexts": [{"name": ACCOUNT, "context": {"cluster": ACCOUNT, "user": ACCOUNT, "namespace": namespace}}],
    }
    path.touch(mode=0o600)
    path.write_text(json.dumps(config), encoding="utf-8")
