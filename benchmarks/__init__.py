"""Times and memory, each measured beside a plain baseline in the same run."""
