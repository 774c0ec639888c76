"""HTTP: reader, envelope, CORS, static files, blueprint and servers."""
