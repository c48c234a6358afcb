"""Pages, JSON documents and pictures of results. Nothing is decided here."""
