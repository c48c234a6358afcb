"""Points on a real API server: real daemons with real watches, and counts that the server keeps as well."""
