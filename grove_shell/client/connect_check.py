"""The first question to a cluster: is it there, does it accept us, and does it know what a PodCliqueSet is."""

from typing import Final

from grove_shell.client.api import Api, Unreachable
from grove_shell.client.connection import NoAccess
from grove_shell.client.kinds import KINDS, POD_CLIQUE_SET
from grove_shell.client.lists import NotListed
from grove_shell.client.response import OK
from grove_shell.client.response_check import is_list

_UNAUTHORIZED: Final = 401


async def check_connection(api: Api, namespace: str = "") -> None:
    """Ask for one PodCliqueSet (OP-044).

    Args:
        api: whom.
        namespace: in one; empty for all.

    Raises:
        NoAccess: with what to try.
    """
    kind = KINDS[POD_CLIQUE_SET]
    try:
        answer = await api.request("GET", kind.path(namespace), query={"limit": "1"})
    except Unreachable as fault:
        raise NoAccess(advice_on(fault)) from fault
    if not answer.good or not is_list(answer.json(), kind):
        raise NoAccess(f"{api.connection.server}: {advice_on(NotListed(kind, answer))}")


def advice_on(fault: Unreachable | NotListed) -> str:
    """What went wrong, and what to try."""
    if not isinstance(fault, NotListed):
        return f"{fault}; is it up, and is --context the one you mean?"
    if fault.absent:
        return f"{fault}; is Grove installed there? (grove manifests | kubectl apply --server-side -f -)"
    if fault.status == _UNAUTHORIZED:
        return f"{fault}: the credentials are not accepted, or ran out; log in again"
    if fault.status == OK:
        return f"{fault}; is there a proxy on the way that wants you to log in?"
    return str(fault)
