"""The rules of `specs/` as data: `rules.json` is generated from the specs, and a test compares both."""
