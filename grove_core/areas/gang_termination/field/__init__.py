"""Gang termination as the existing operator decides it (GF). Read specs/gang_termination_field.md first."""
