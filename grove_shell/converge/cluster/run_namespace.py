"""Where a run takes place: a namespace of its own, an account that may do what daemons may, and a domain."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from grove_core.resources.api_names import NVIDIA
from grove_shell.client.access import DAEMON, DOMAIN_CONTROLLER
from grove_shell.client.api import APPLY, Api
from grove_shell.client.connection import NoAccess
from grove_shell.domain_daemon.kinds import CLIQUES, DOMAINS
from grove_shell.manifests.roles import rules_of

DOMAIN_NAME: Final = "domain"
ACCOUNT: Final = "daemons"
_WARMUP: Final = "warm-up"
_WARMING: Final = 50
_RBAC: Final = "rbac.authorization.k8s.io"


async def check_kinds(api: Api) -> None:
    """Raises NoAccess where the server does not know both kinds."""
    for kind in (DOMAINS, CLIQUES):
        answer = await api.request("GET", kind.path("default"), query={"limit": "1"})
        if not answer.ok:
            more = "grove manifests --only crds --with compute-domains | kubectl apply --server-side -f -"
            raise NoAccess(f"{api.connection.server}: {kind.kind}: {answer.message.strip()}; {more}")


class RunNamespace:
    """Made with the rights of who runs the experiment; what runs there has those of its account."""

    def __init__(self, api: Api) -> None:
        """Make nothing yet."""
        self.namespace = f"converge-{uuid4().hex[:10]}"
        self._api = api

    async def prepare(self) -> str:
        """Namespace, account and role; the token of the account."""
        where = {"namespace": self.namespace}
        await self._make("/api/v1/namespaces", {"kind": "Namespace", "metadata": {"name": self.namespace}})
        accounts = f"/api/v1/namespaces/{self.namespace}/serviceaccounts"
        await self._make(accounts, {"kind": "ServiceAccount", "metadata": {"name": ACCOUNT, **where}})
        roles = f"/apis/{_RBAC}/v1/namespaces/{self.namespace}"
        rules = rules_of((*DAEMON, *DOMAIN_CONTROLLER))
        role = {"kind": "Role", "metadata": {"name": ACCOUNT, **where}, "rules": rules}
        await self._make(f"{roles}/roles", role)
        subject = {"kind": "ServiceAccount", "name": ACCOUNT, **where}
        bound = {"apiGroup": _RBAC, "kind": "Role", "name": ACCOUNT}
        binding = {
            "kind": "RoleBinding",
            "metadata": {"name": ACCOUNT, **where},
            "roleRef": bound,
            "subjects": [subject],
        }
        await self._make(f"{roles}/rolebindings", binding)
        made = await self._make(
            f"{accounts}/{ACCOUNT}/token", {"kind": "TokenRequest", "spec": {"expirationSeconds": 7200}}
        )
        return str(made["status"]["token"])

    async def warm_up(self) -> None:
        """Writes on another object, so that no run pays for what a server does only once."""
        await self.make_domain(_WARMUP, 1)
        for number in range(_WARMING):
            entry = {"name": "n", "ipAddress": "10.0.0.1", "cliqueID": "c", "index": number, "status": "NotReady"}
            await self.apply_entry(_WARMUP, "warm-up", entry)
        await self._api.request("DELETE", DOMAINS.path(self.namespace, _WARMUP))

    async def apply_entry(self, domain: str, manager: str, entry: Mapping[str, Any]) -> None:
        """Apply one entry to a domain."""
        body = {"apiVersion": NVIDIA, "kind": DOMAINS.kind, "metadata": {"name": domain}, "status": {"nodes": [entry]}}
        path = DOMAINS.path(self.namespace, domain, "status")
        query = {"fieldManager": manager, "force": "true"}
        answer = await self._api.request("PATCH", path, query=query, body=body, content_type=APPLY)
        if not answer.ok:
            raise NoAccess(f"{path}: {answer.message}")

    async def make_domain(self, name: str, nodes: int) -> str:
        """A domain for so many nodes; its uid."""
        spec = {"numNodes": nodes, "channel": {"resourceClaimTemplate": {"name": "channel"}}}
        body = {"apiVersion": NVIDIA, "kind": DOMAINS.kind, "metadata": {"name": name}, "spec": spec}
        made = await self._make(DOMAINS.path(self.namespace), body)
        return str(made["metadata"]["uid"])

    async def clear(self) -> None:
        """Nothing is left but, where nobody finishes deletions, the namespace."""
        for kind in (CLIQUES, DOMAINS):
            await self._api.request("DELETE", kind.path(self.namespace))
        await self._api.request("DELETE", f"/api/v1/namespaces/{self.namespace}")

    async def _make(self, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        group = path.split("/namespaces", maxsplit=1)[0].removeprefix("/apis/").removeprefix("/api/")
        version = "authentication.k8s.io/v1" if body["kind"] == "TokenRequest" else group
        for left in (2, 1, 0):
            answer = await self._api.request("POST", path, body={"apiVersion": version, **body})
            if answer.ok:
                made: Mapping[str, Any] = answer.json()
                return made
            if left:
                await asyncio.sleep(0.5)  # a namespace or a role may not be known to all of the server yet
        raise NoAccess(f"{path}: {answer.message}")


def write_kubeconfig(path: Path, server: str, authority: str | None, token: str, namespace: str) -> None:
    """A configuration for the account, which needs no other file; only the caller can read it."""
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
