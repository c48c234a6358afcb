"""What people get who install us."""
