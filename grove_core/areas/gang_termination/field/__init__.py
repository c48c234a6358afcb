"""Gang termination as the Go operator decides it (GF). Read specs/gang_termination_field.md first."""
