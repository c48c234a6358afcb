"""Gang termination as the Gang Termination Design Doc decides it (GT). Read specs/gang_termination.md first."""
