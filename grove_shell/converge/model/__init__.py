"""Daemons, controller and API server in virtual time: what an experiment would come to, from a few constants."""
