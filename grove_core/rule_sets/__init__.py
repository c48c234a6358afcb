"""Rule sets: the behaviour of the operator of the design, and of each release of the Go operator."""
