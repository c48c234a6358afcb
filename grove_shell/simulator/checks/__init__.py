"""The promises: checks of what may never happen, written independently of the core."""
