"""The operator on a real control plane, beside a bare loop that only makes the same pods."""
