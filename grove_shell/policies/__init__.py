"""Policies over plans: rules in CEL that a plan must keep; read, checked, evaluated."""
