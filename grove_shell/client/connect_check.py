"""The first request: does the server answer, does it accept the credentials, does it serve PodCliqueSets."""

from typing import Final

from grove_shell.client.api import Api, Unreachable
from grove_shell.client.connection import NoAccess
from grove_shell.client.kinds import KINDS, POD_CLIQUE_SET
from grove_shell.client.lists import NotListed
from grove_shell.client.response import OK
from grove_shell.client.response_check import is_list

_UNAUTHORIZED: Final = 401


async def check_connection(api: Api, namespace: str = "") -> None:
    """List one PodCliqueSet (OP-044).

    Args:
        api: the API server.
        namespace: of the list; empty for all.

    Raises:
        NoAccess: with advice what to try.
    """
    kind = KINDS[POD_CLIQUE_SET]
    try:
        answer = await api.request("GET", kind.path(namespace), query={"limit": "1"})
    except Unreachable as fault:
        raise NoAccess(advice_on(fault)) from fault
    if not answer.ok or not is_list(answer.json(), kind):
        raise NoAccess(f"{api.connection.server}: {advice_on(NotListed(kind, answer))}")


def advice_on(fault: Unreachable | NotListed) -> str:
    """Return what went wrong and what to try."""
    if not isinstance(fault, NotListed):
        return f"{fault}; is it up, and is --context the one you mean?"
    if fault.is_absent:
        return f"{fault}; is Grove installed there? (grove manifests | kubectl apply --server-side -f -)"
    if fault.status == _UNAUTHORIZED:
        return f"{fault}: the credentials are not accepted, or ran out; log in again"
    if fault.status == OK:
        return f"{fault}; is there a proxy on the way that wants you to log in?"
    return str(fault)
