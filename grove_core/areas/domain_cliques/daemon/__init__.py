"""What one daemon does next: it registers, chooses an index, and runs its fabric daemon with the peers it knows."""
