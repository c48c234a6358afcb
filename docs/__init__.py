"""The documentation site: written pages, and the generator of the reference."""
