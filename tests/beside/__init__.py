"""The Go operator on a real control plane beside ours, and the score of our predictions of it."""
