"""Rule sets: which behaviour of each area makes the operator of the design, and which makes the released one."""
