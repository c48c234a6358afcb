"""Whatever a document holds, it is shown whole, and reads back as it was (CL-049)."""

import json
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from grove_shell.styled_text_page import json_text
from grove_shell.views.renderers import format_json_document, format_yaml_document

_CHARACTERS = "a'\"\\:# -\n\t\x7f\x85\xa0\u00ad\u200b\u2028\u202e\ufeff\ue000\U000e0001\U0001f600"
ODD = st.text(st.sampled_from(_CHARACTERS), max_size=12)
DOCUMENTS = st.recursive(ODD, lambda kids: st.lists(kids, max_size=3) | st.dictionaries(ODD, kids, max_size=3))


def is_shown(text: str) -> bool:
    return all(char.isprintable() for line in text.split("\n") for char in line)


@given(DOCUMENTS)
def test_cl049_yaml_hides_nothing_and_reads_back(value: Any) -> None:
    text = format_yaml_document(value)
    assert is_shown(text)
    assert yaml.safe_load(text) == value


@given(DOCUMENTS)
def test_cl049_json_hides_nothing_and_reads_back(value: Any) -> None:
    for text in (format_json_document(value), json_text(value)):
        assert is_shown(text)
        assert json.loads(text) == value
