"""A user-management service: the example to read, run and copy. Nothing in it knows the folder's name.

With ``sample_service``, or the name of your copy: ``python -m NAME`` starts it with demo data,
``gunicorn "NAME:create_app()"`` serves it, ``flask --app NAME create-user`` makes the first user.
"""

from .app import create_app

__all__ = ["create_app"]
