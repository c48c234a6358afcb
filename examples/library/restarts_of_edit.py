"""What an edit restarts: ``python restarts_of_edit.py cluster.json new.yaml``."""

import sys

import grove_shell as grove

plan = grove.plan(grove.read(*sys.argv[1:]))
if not plan.edits or plan.unknown:
    new = [one.set for one in plan.new_sets]
    sys.exit("; ".join(plan.unknown) or f"no stored set is edited; new sets: {new}")
for edit in plan.edits:
    print(edit.set, [change.path for change in edit.changes])
    if edit.restarts is None or edit.terminates is None:
        sys.exit("what it restarts is not known: pods are missing in the input")
    print(f"  restarts {edit.restarts.pods} pods with {edit.restarts.gpus} GPUs, terminates {edit.terminates.pods}")
    for part in edit.serving:
        print(f"  {part.name}: {part.before} of {part.wanted} serve, at worst {part.lowest}; {part.needed} are needed")
    print(*(f"  waits: {why}" for why in edit.waits), sep="\n")
