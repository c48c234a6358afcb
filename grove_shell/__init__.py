"""grove_shell: everything that touches the outside. Decides nothing; it reads, calls grove_core, prints and writes."""
