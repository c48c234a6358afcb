"""Gang termination: when a degraded gang is ended, and when it is not.

What all rules share is here; what the design decides (GT) is in `design`, what the Go operator decides (GF) in
`field`. Read specs/gang_termination.md first.
"""
