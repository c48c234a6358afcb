"""The rules of `specs/`: parsed when they are asked for, from the checkout or from the copy in the wheel."""
