"""HTTP: the strict reader, the envelope, CORS, static files, the blueprint and the servers."""
