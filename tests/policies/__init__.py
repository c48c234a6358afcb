"""Policies over plans (PO): files, evaluation, examples, and the ready ones."""
