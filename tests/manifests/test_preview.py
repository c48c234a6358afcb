"""The preview of updates as it is installed: alone or beside the rest, with rights to read, and called for little."""

import asyncio
import io
import json
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_core.resources.api_names import MANAGED_BY
from grove_shell.actions.manifests import PREVIEW_PART, installation_objects
from grove_shell.cli.main import run_command_line
from grove_shell.client.rbac_rules import preview_resource_access
from grove_shell.manifests.installation import InstallationOptions
from grove_shell.settings.webhook_settings import (
    PREVIEW,
    PREVIEW_PROGRAM,
    default_preview_webhook_settings,
    parse_webhook_settings,
)
from grove_shell.webhooks.certificate_rotation import MANAGER
from grove_shell.webhooks.webhook_process import WebhookProcess
from tests.manifests.request_recorder import Asked, Recorder
from tests.manifests.test_access import granted

Json = dict[str, Any]
GO_OPERATOR: Final = {
    "apiVersion": "operator.config.grove.io/v1alpha1",
    "kind": "OperatorConfiguration",
    "runtimeClientConnection": {"qps": 100, "burst": 150},
    "topologyAwareScheduling": {"enabled": True},
}


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> list[Json]:
    assert run_command_line(["manifests", *words], "grove") == 0
    return [one for one in yaml.load_all(capsys.readouterr().out, yaml.CSafeLoader) if one is not None]


def configured(objects: list[Json]) -> Json:
    (file,) = (one for one in objects if one["kind"] == "ConfigMap" and PREVIEW_PROGRAM in one["metadata"]["name"])
    found: Json = json.loads(file["data"]["config.json"])
    return found


@pytest.mark.parametrize("watched", ["", "ml"])
def test_mf030_it_is_called_for_changes_of_specs_and_never_needed(watched: str) -> None:
    *_, last = installation_objects(InstallationOptions(watched=watched), (PREVIEW_PART,))
    assert last["kind"] == "ValidatingWebhookConfiguration"
    assert last["metadata"]["name"] == ("grove-preview-ml" if watched else "grove-preview")
    (webhook,) = last["webhooks"]
    assert webhook["name"] == PREVIEW
    (rule,) = webhook["rules"]
    assert (rule["operations"], rule["resources"]) == (["UPDATE"], ["podcliquesets"])
    assert (webhook["failurePolicy"], webhook["sideEffects"]) == ("Ignore", "None")
    assert webhook["timeoutSeconds"] == 3
    assert webhook["matchConditions"][0]["expression"] == "object.spec != oldObject.spec"
    (selected,) = webhook["namespaceSelector"]["matchExpressions"]
    assert selected == {"key": "update-preview.grove.io/mode", "operator": "NotIn", "values": ["off"]}
    assert ("matchLabels" in webhook["namespaceSelector"]) == bool(watched)


def test_mf030_it_is_printed_alone_and_beside_the_rest(capsys: pytest.CaptureFixture[str]) -> None:
    alone, all_of_it = printed(capsys, "--only", "preview"), printed(capsys, "--with", "preview")
    assert alone[0]["kind"] == "Namespace"
    assert alone[0]["metadata"]["name"] == "grove-preview"
    assert all_of_it == [*printed(capsys), *installation_objects(InstallationOptions(), (PREVIEW_PART,))]
    assert [one["kind"] for one in alone] == [one["kind"] for one in all_of_it[-len(alone) :]]
    assert not any(one["kind"] == "CustomResourceDefinition" for one in alone)


def test_mf030_it_follows_the_rules_of_the_configuration(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "operator.yaml"
    file.write_text(json.dumps(GO_OPERATOR), encoding="utf-8")
    found = configured(printed(capsys, "--only", "preview", "--config", str(file)))
    assert found["preview"] == {"mode": "warn", "rules": "auto", "denyAbove": {}}
    ours = {"kind": "OperatorConfiguration", "apiVersion": GO_OPERATOR["apiVersion"], "rules": "field@alpha.11"}
    file.write_text(json.dumps(ours), encoding="utf-8")
    found = configured(printed(capsys, "--only", "preview", "--config", str(file)))
    assert found["preview"]["rules"] == "field@v0.1.0-alpha.11"
    settings, problems = parse_webhook_settings(found)
    assert (settings.preview.rules, problems) == ("field@v0.1.0-alpha.11", ())


@pytest.mark.parametrize("watched", ["", "ml"])
def test_mf031_its_roles_are_what_it_asks_for(watched: str) -> None:
    objects = installation_objects(InstallationOptions(watched=watched), (PREVIEW_PART,))
    found = {(group, resource, verb, names) for _, group, resource, verb, names in granted(objects, PREVIEW_PROGRAM)}
    access = preview_resource_access("-ml" if watched else "")
    assert found == {(one.group, one.resource, verb, one.names) for one in access for verb in one.verbs}
    writes = {(resource, verb) for _, resource, verb, _ in found if verb not in {"get", "list"}}
    assert writes == {("secrets", "create"), ("secrets", "update"), ("validatingwebhookconfigurations", "patch")}


def answer(one: Asked, before: int) -> tuple[int, Json]:
    """A server with the registration of the preview, and without its Secret at first."""
    if one.resource == "secrets":
        metadata = {"name": "grove-preview-certs", "labels": {MANAGED_BY: MANAGER}}
        made = {"kind": "Secret", "metadata": metadata, "data": {}}
        return (404, {}) if one.verb == "get" and before == 0 else (200, made)
    return 200, {"metadata": {"name": one.name}, "webhooks": [{"name": PREVIEW, "clientConfig": {}}]}


@pytest.mark.req("MF-031")
def test_wh047_the_process_watches_nothing_and_needs_no_other_program() -> None:
    recorder = Recorder(answer)
    loopback = {"host": "127.0.0.1", "port": 0}
    settings, problems = parse_webhook_settings({"listening": loopback, "serving": loopback, "farewell": "10ms"})
    assert not problems

    async def play() -> None:
        async with recorder.connection() as connection:
            process = WebhookProcess(
                connection=connection,
                settings=default_preview_webhook_settings(settings),
                namespace="home",
                previews=(),
                out=io.StringIO(),
            )
            running = asyncio.create_task(process.run())
            await recorder.until(Asked("admissionregistration.k8s.io", "validatingwebhookconfigurations", "patch"))
            process.stop.set()
            assert await running == 0

    asyncio.run(play())
    assert {(one.resource, one.verb) for one in recorder.asked} <= {
        ("secrets", "get"),
        ("secrets", "create"),
        ("validatingwebhookconfigurations", "get"),
        ("validatingwebhookconfigurations", "patch"),
    }
    assert {one.name for one in recorder.asked if one.name} <= {"grove-preview", "grove-preview-certs"}
