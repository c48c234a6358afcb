"""Reads files, directories and standard input into objects, one at a time; every problem becomes a fault.

The rules are in ``specs/input.md``. ``objects.load`` returns a cluster, ``input_sources.input_items_in_path`` the plain
objects. ``yaml_input_items`` and ``json_input_items`` read one text each; ``utf8_stream`` decodes bytes;
``yaml_scalars`` converts plain YAML scalars; ``json_checks`` finds what Python's JSON scanner does not report.
"""
