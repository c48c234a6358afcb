"""Which pods wait behind a scheduling gate, and why: ``python gated_pods.py cluster.json``."""

import sys

import grove_shell as grove

plan = grove.plan(grove.read(sys.argv[1]))
for one in plan.gated:
    then = "the gate is removed now" if one.opens else "the gate stays"
    print(f"{one.set}  {one.gang}  {one.pod}: {then}: {one.because}")
for why in plan.unknown:
    print("not known:", why)
