"""List the replicas that find no room again once they are terminated: ``python without_room.py cluster.json``."""

import sys

import grove_shell as grove

plan = grove.plan(grove.read(sys.argv[1]))
for one in plan.terminations + plan.waiting:
    if one.finds_room is not True:
        print(one.set, f"{one.replica}:", "finds no room again" if one.finds_room is False else one.room_unknown)
