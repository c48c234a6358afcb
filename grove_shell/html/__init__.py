"""Pages as HTML files: one file, opened from disk, that shows a result and asks no network (HP)."""
