"""``import grove_shell`` as a program of a user has it."""
