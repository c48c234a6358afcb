"""Commands and their options. Imports click and nothing else that costs time until a command runs (CL-003)."""
