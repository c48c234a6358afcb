"""From stories to bytes. No arithmetic, no decisions."""
