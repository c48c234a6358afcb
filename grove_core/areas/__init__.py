"""Judgement: one folder for each spec file. Areas know each other's verdicts, never each other's functions."""
