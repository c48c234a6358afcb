"""A model of daemons, controller and API server in virtual time, with a few constants."""
