"""Syntax checks of the API server for names, labels, annotations and environment variables.

The functions return yes or no; admission words the error.
"""

import re
from collections.abc import Mapping
from typing import Final

LONGEST_LABEL: Final = 63
LONGEST_SUBDOMAIN: Final = 253
MOST_ANNOTATION_BYTES: Final = 256 * 1024

_DNS: Final = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")
_WORD: Final = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?")
_VARIABLE: Final = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")


def is_dns_label(text: str) -> bool:
    """Return whether a text is one part of a host name (RFC 1123): ``router-1``."""
    return len(text) <= LONGEST_LABEL and _DNS.fullmatch(text) is not None


def is_dns_subdomain(text: str) -> bool:
    """Labels joined by dots (RFC 1123), at most 253 characters: the name of most objects."""
    return len(text) <= LONGEST_SUBDOMAIN and all(_DNS.fullmatch(part) for part in text.split("."))


def is_label_key(text: str) -> bool:
    """A qualified name: at most 63 characters, and perhaps a DNS subdomain and a slash before them."""
    prefix, slash, name = text.rpartition("/")
    return (not slash or is_dns_subdomain(prefix)) and bool(name) and is_label_value(name)


def is_annotation_key(text: str) -> bool:
    """Return whether a text is a qualified name, whose prefix may have capitals."""
    return is_label_key(text.lower())


def is_label_value(text: str) -> bool:
    """Nothing, or at most 63 letters, digits, ``-``, ``_`` and ``.``, the first and last a letter or digit."""
    return not text or (len(text) <= LONGEST_LABEL and _WORD.fullmatch(text) is not None)


def is_variable_name(text: str) -> bool:
    """The name of an environment variable: no digit first, and no path."""
    return _VARIABLE.fullmatch(text) is not None and text != "." and not text.startswith("..")


def annotation_bytes(annotations: Mapping[str, object]) -> int:
    """The size of all keys and values together, as the API server counts it."""
    return sum(len(str(text).encode(errors="surrogatepass")) for pair in annotations.items() for text in pair)
