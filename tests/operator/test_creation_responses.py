"""Outcomes of creations, for responses that refuse without looking like a refusal."""

import asyncio
from typing import Any

import pytest

from grove_core.kernel.frozen import FrozenMap, freeze
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, AttemptOutcome, Create, Ensure, Step, StepStage
from grove_core.resources.api_names import DOMAIN_KIND, NVIDIA
from grove_shell.apply.fresh_reader import FreshReader
from grove_shell.apply.step_executor import StepExecutor
from grove_shell.cache.cluster_cache import ClusterCache
from grove_shell.client.api_session import ApiSession
from tests.manifests.request_recorder import Asked, Recorder

Json = dict[str, Any]
NOT_CONFIRMED = (
    'Internal error occurred: failed calling webhook "domains.example.com": failed to call webhook: '
    'Post "https://10.0.0.7:443/judge?timeout=10s": dial tcp 10.0.0.7:443: connect: connection refused'
)


def created(making: type[Create | Ensure], status: int, **words: str) -> Attempt:
    """What becomes of the creation of a ComputeDomain that is answered like this."""

    def answer(_one: Asked, _before: int) -> tuple[int, Json]:
        return status, {"kind": "Status", "status": "Failure", "code": status, **words}

    async def scenario() -> Attempt:
        async with Recorder(answer).connection() as connection, ApiSession(connection) as api:
            return await StepExecutor(FreshReader(api, ClusterCache())).attempt_step(step(making))

    return asyncio.run(scenario())


def step(making: type[Create | Ensure]) -> Step:
    manifest = freeze({"apiVersion": NVIDIA, "kind": DOMAIN_KIND, "metadata": {"name": "a", "namespace": "ml"}})
    assert isinstance(manifest, FrozenMap)
    return Step(StepStage.FOUNDATION, Ref(NVIDIA, DOMAIN_KIND, "ml", "a"), making(manifest), ())


@pytest.mark.parametrize("making", [Create, Ensure])
def test_op011_a_kind_that_is_gone_is_a_refusal(making: type[Create | Ensure]) -> None:
    found = created(making, 404, reason="NotFound", message="the server could not find the requested resource")
    assert (found.outcome, found.detail) == (AttemptOutcome.REFUSED, "the server could not find the requested resource")


@pytest.mark.parametrize("making", [Create, Ensure])
def test_op011_an_unreachable_webhook_is_a_refusal(making: type[Create | Ensure]) -> None:
    found = created(making, 500, reason="InternalError", message=NOT_CONFIRMED)
    assert (found.outcome, found.detail) == (AttemptOutcome.REFUSED, NOT_CONFIRMED)


@pytest.mark.parametrize("making", [Create, Ensure])
@pytest.mark.parametrize(
    ("status", "words"),
    [
        (500, {"reason": "InternalError", "message": "Internal error occurred: etcdserver: leader changed"}),
        (503, {"reason": "ServiceUnavailable", "message": "apiserver is shutting down"}),
        (504, {"reason": "Timeout", "message": "request did not complete within requested timeout"}),
        (500, {}),
    ],
)
def test_op011_other_faults_of_the_server_are_no_answer(
    making: type[Create | Ensure], status: int, words: Json
) -> None:
    assert created(making, status, **words).outcome is AttemptOutcome.UNREACHABLE
