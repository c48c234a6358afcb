"""Which gangs are terminated within 10 minutes, as CSV: ``python terminated_soon.py cluster.json > soon.csv``."""

import csv
import sys

import grove_shell as grove

cluster = grove.read(sys.argv[1])
found = grove.forecast(cluster, until="10m")
if found.unknown:
    sys.exit("not known: " + "; ".join(found.unknown))
table = csv.writer(sys.stdout)
table.writerow(["set", "replica", "minutes", "gpus", "because"])
for one in found.terminations:
    minutes = round((one.at - cluster.now).total_seconds() / 60, 1)
    table.writerow([one.set, one.replica, minutes, one.gpus, one.because])
