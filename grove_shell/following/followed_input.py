"""What is followed: the input to plan, whether it has changed, and why it may be out of date."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Protocol

from grove_shell.actions.command_input import InputSource
from grove_shell.following.followed_files import FollowedFiles


class FollowedInput(Protocol):
    """A cluster or files that change."""

    @property
    def trouble(self) -> str:
        """Why the input may be out of date, such as a lost connection; empty where it is not."""

    @property
    def unwatched(self) -> str:
        """What is only listed now and then, and why; empty where everything is watched."""

    async def follow(self, changed: Callable[[], None]) -> None:
        """Follow until cancelled; call ``changed`` after every change of the input or of the trouble."""

    async def source(self) -> InputSource:
        """Return the input as it is now; waits until there is one.

        Raises:
            CommandFailed: it cannot be read.
        """


@asynccontextmanager
async def followed_input(source: InputSource, also: Iterable[str] = ()) -> AsyncIterator[FollowedInput]:
    """Yield what follows the cluster of ``--live``, else the files; nothing is followed until ``follow`` runs.

    Args:
        also: other files whose changes count.

    Raises:
        ClusterAccessError: there is no way to the cluster, or it does not list PodCliqueSets.
    """
    if source.live is None:
        yield FollowedFiles(source, also)
        return
    from grove_shell.client.api_discovery import check_connection  # noqa: PLC0415 - the client, which a file does not need
    from grove_shell.client.connection_settings import read_connection_settings  # noqa: PLC0415 - as above
    from grove_shell.following.followed_cluster import FollowedCluster  # noqa: PLC0415 - as above

    connection = await read_connection_settings(source.live.kubeconfig, source.live.context)
    followed = FollowedCluster(source, connection, also)
    async with followed.api:
        await check_connection(followed.api, followed.namespace)
        yield followed
