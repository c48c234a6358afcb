"""Webhooks as they are registered."""

from typing import Any

Json = dict[str, Any]


def registered(objects: list[Json]) -> dict[str, Json]:
    """The webhooks that are called for anything, by name."""
    return {name: webhook for name, webhook in entries(objects).items() if "rules" in webhook}


def entries(objects: list[Json]) -> dict[str, Json]:
    """Every webhook that is printed, by name."""
    kinds = {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}
    return {webhook["name"]: webhook for one in objects if one["kind"] in kinds for webhook in one["webhooks"]}
