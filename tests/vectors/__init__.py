"""Recorded cases of gang termination from an independent implementation."""
