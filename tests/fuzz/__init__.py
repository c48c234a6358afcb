"""Fuzzing: whatever comes in at a border of the program, there is an answer, in time, and no traceback."""
