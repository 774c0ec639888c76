"""A user-management service: the example to read, run and copy.

``python -m sample_service`` starts it with demo data; ``gunicorn "sample_service:create_app()"``
serves it; ``flask --app sample_service create-user`` makes the first user.
"""

from sample_service.app import create_app

__all__ = ["create_app"]
