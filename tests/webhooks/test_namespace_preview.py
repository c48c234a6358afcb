"""The settings of the preview, and the labels by which a namespace replaces them."""

import pytest

from grove_core.plan.update_forecast import PodsAndGpus
from grove_shell.settings.webhook_settings import PreviewSettings, parse_webhook_settings
from grove_shell.webhooks.namespace_preview_settings import preview_settings_of_namespace
from tests.webhooks.preview_server import PreviewServer
from tests.webhooks.previewing import OBJECTS, answered, labels, request, warnings, with_image
from tests.webhooks.reviews import Json


@pytest.mark.req("WH-042")
def test_wh043_a_label_replaces_the_setting_of_its_name() -> None:
    server, edited = PreviewServer(OBJECTS), request(with_image("worker"))
    server.labels = labels(deny_above_gpus="11")
    assert not answered(edited, server)["allowed"]
    server.labels = labels(deny_above_gpus="12", deny_above_pods="none")
    assert answered(edited, server, denyAbove={"pods": 0, "gpus": 0})["allowed"]
    server.labels = labels(mode="off", deny_above_pods="0")
    server.asked.clear()
    assert warnings(answered(edited, server)) == []
    assert set(server.asked) == {"namespaces"}
    server.labels = labels(mode="warn")
    assert len(warnings(answered(edited, server, mode="off"))) >= 1
    server.labels = {}
    assert warnings(answered(edited, server, mode="off")) == []


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (labels(mode="on"), 'mode of namespace ml: expected off or warn, got "on"'),
        (labels(deny_above_pods="-1"), 'deny-above-pods of namespace ml: expected a number or none, got "-1"'),
        (labels(deny_above_gpus="8x"), 'deny-above-gpus of namespace ml: expected a number or none, got "8x"'),
        (labels(deny_above_pod="1"), "deny-above-pod of namespace ml: unknown, so it changes nothing; the labels are "),
    ],
)
def test_wh043_a_value_that_is_not_understood_is_a_warning(found: Json, words: str) -> None:
    settings = PreviewSettings.model_validate({"denyAbove": {"pods": 3, "gpus": 3}})
    policy = preview_settings_of_namespace(settings, "ml", found)
    assert words in policy.notes[0]
    assert policy.is_on
    assert [limit.most for limit in policy.limits] == [3, 3]
    assert policy.limits[0].objection(PodsAndGpus(4, 0))
    assert not policy.limits[0].objection(PodsAndGpus(3, 9))


@pytest.mark.parametrize("mode", ["off", False])
def test_wh043_off_in_yaml_is_off(mode: object) -> None:
    settings, problems = parse_webhook_settings({"preview": {"mode": mode}})
    assert (settings.preview.mode, problems) == ("off", ())


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ({"mode": "deny"}, "preview.mode"),
        ({"rules": "field@alpha.99"}, "preview.rules"),
        ({"denyAbove": {"pods": -1}}, "preview.denyAbove.pods"),
        ({"denyAbove": {"nodes": 1}}, "preview.denyAbove.nodes"),
    ],
)
def test_wh043_a_wrong_setting_is_reported(raw: Json, path: str) -> None:
    _, problems = parse_webhook_settings({"preview": raw})
    assert [one.path for one in problems] == [path]
