"""Gang termination (GT): when a degraded gang is ended, and when it is not. Read specs/gang_termination.md first."""
