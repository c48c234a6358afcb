"""The screen of ``grove watch``: follows a cluster or files, and shows the plan with clocks that run."""
