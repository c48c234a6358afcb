"""Basic values: references, steps, wants, reasons, conditions, times. No Kubernetes client, no policy of Grove."""
