"""Reading: files, directories and standard input become plain objects, one at a time; what is wrong becomes faults.

The rules are in ``specs/input.md``. ``sources.items_of`` is the door; ``yaml_items`` and ``json_items`` read one text
each; ``text`` turns bytes into characters; ``scalars`` knows what a plain YAML word means; ``surveys`` looks closely
at JSON that a person may have written.
"""
