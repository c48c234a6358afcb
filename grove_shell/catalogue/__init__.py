"""The rules of `specs/` as the program has them with it: `rules.json` is generated, and held to the specs by a test."""
