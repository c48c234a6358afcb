"""The words of the core: durations, moments, frozen JSON, reasons, decisions, conditions, wishes, steps."""
