"""The documentation site, held to the program without the tool that builds it."""
