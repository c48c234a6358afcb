"""What an edit restarts: ``python restarts_of_edit.py cluster.json new.yaml``."""

import sys

import grove_shell as grove

for edit in grove.plan(grove.read(*sys.argv[1:])).edits:
    print(edit.set, [change.path for change in edit.changes])
    if not edit.is_known:
        sys.exit("what it restarts is not known: pods are missing in the input")
    print(f"  restarts {edit.restarts.pods} pods with {edit.restarts.gpus} GPUs, terminates {edit.terminates.pods}")
    for part in edit.serving:
        print(
            f"  {part.name}: {part.before} serve, at worst {part.lowest}, then {part.after}; {part.needed} are needed"
        )
