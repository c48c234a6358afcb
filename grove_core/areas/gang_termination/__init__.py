"""Gang termination: when a degraded gang is terminated, and when it is not.

This package has what both rule sets share; `design` has the rules of the design (GT), `field` those of the Go operator
(GF). Read specs/gang_termination.md first.
"""
