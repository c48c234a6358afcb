"""The picture of the layers is that of the import contracts (rewrite with --bless)."""

import xml.etree.ElementTree as ET

from docs.generator.layers import PICTURE, layers, picture


def test_the_picture_is_up_to_date(*, bless: bool) -> None:
    if bless:
        PICTURE.write_text(picture(), encoding="utf-8")
    assert PICTURE.read_text(encoding="utf-8") == picture()


def test_every_layer_and_every_package_is_in_it() -> None:
    drawn = {element.text for element in ET.fromstring(picture()).iter("{http://www.w3.org/2000/svg}text")}  # noqa: S314 - ours
    assert {*layers()} <= drawn
    assert {name for rows in layers().values() for row in rows for name in row} <= drawn
