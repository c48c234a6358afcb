"""Fault injection: an operator runs for hours of virtual time on a faulty server.

It must terminate nothing healthy, and do everything that is due.
``python -m tests.fault_injection --first 0 --seeds 100`` runs many seeds.
"""
