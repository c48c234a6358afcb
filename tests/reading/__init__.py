"""The reading layer: what words, numbers, files and broken bytes become (rules IN-0xx)."""
