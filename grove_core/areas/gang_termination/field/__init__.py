"""Gang termination by the rules of the Go operator (GF). Read specs/gang_termination_field.md first."""
