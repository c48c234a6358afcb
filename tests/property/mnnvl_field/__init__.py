"""MNNVL by the Go operator: laws and tables (specs/mnnvl_field.md)."""
