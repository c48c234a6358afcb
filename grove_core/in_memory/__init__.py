"""An API server in memory, for forecasts, simulations and tests; and the forecasts."""
