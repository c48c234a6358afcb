"""Proofs for all inputs: functions of the product run on symbolic numbers and times, and z3 compares every path."""
