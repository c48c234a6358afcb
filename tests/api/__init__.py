"""What programs may rely on when they import us."""
