"""The command line: words and options only. Imports click and nothing else until a command runs."""
