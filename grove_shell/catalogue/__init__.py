"""The rules of `specs/` and examples: read when they are asked for, from the checkout or from the copy in the wheel."""
