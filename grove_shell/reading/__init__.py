"""Reads files, directories and standard input into objects, one at a time; every problem becomes a fault.

The rules are in ``specs/input.md``. ``objects.load`` returns a cluster, ``sources.items_of`` the plain objects.
``yaml_items`` and ``json_items`` read one text each; ``utf8_stream`` decodes bytes; ``scalars`` converts plain YAML
scalars; ``json_checks`` finds what Python's JSON scanner does not report.
"""
