"""Pages of problems in manifests."""
