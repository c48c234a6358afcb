"""Hours of a whole operator in seconds, on a server that fails: nothing healthy ends, and all that is due is done.

``python -m tests.fault_injection --first 0 --seeds 100`` plays many of them.
"""
