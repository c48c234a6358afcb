"""Follows the input of a plan, files or a cluster; ``grove plan --watch``."""
