"""What each command does: read, ask the core, print, and say with which code to leave."""
