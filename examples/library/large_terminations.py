"""Fail when a termination within 6 hours ends more than 8 GPUs: ``python large_terminations.py cluster.json``."""

import sys

import grove_shell as grove

cluster = grove.read(sys.argv[1])
found = grove.forecast(cluster, until="6h")
if found.unknown:
    sys.exit("not known: " + "; ".join(found.unknown))
large = [one for one in found.terminations if one.gpus is None or one.gpus > 8]
for one in large:
    print(f"{one.at:%H:%M:%S}  {one.set}  {one.replica}: {one.gpus} GPUs, {one.because}")
sys.exit(1 if large else 0)
