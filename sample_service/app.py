"""Assembles the service from arguments and the environment."""

from __future__ import annotations

import hmac
import os
from collections.abc import Mapping
from typing import Any

import mongomock
from flask import Flask
from werkzeug.middleware.proxy_fix import ProxyFix

from gatewayfw import DefinitionError, gateway
from gatewayfw.auth import Auth, PasswordHasher, Sha256Hasher, Tokens, fallbacks_from_environment, key_from_environment
from gatewayfw.odm import Model

from . import city, commands, country, file, organization, unit, user
from .city.model import define_city
from .country.model import define_country
from .file.model import define_file
from .organization.model import define_organization
from .service import Service, signed_in
from .unit.model import define_unit
from .user.model import define_user

#: How often an address may try to log in; counted in memory unless GATEWAYFW_RATE_LIMIT_STORAGE names a database.
LOGIN_LIMIT = "60/minute"
_WORDS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


def create_app(db: Any = None, token_key: str | bytes | None = None, **options: Any) -> Flask:
    """Return the service as a Flask app, on a gateway of its own.

    ``db`` is a MongoDB URI, or a PyMongo or mongomock database; ``token_key`` signs the tokens; ``options`` are those
    of `gatewayfw.core.Gateway.create_app`. Missing ones are read from ``MONGODB_URI``, ``GATEWAYFW_TOKEN_KEY``,
    ``GATEWAYFW_PROXIES`` and the variables of `options_from`.

    Raises:
        DefinitionError: there is no usable token key, or an option does not fit.
    """
    if db is None:
        db = os.environ.get("MONGODB_URI") or None
    service = create_service(db, token_key)
    app = service.gw.create_app(**{**options_from(os.environ), **options})
    if proxies := proxies_from(os.environ):
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=proxies, x_proto=proxies)  # type: ignore[method-assign]  # Flask's way
    commands.add_to(app, service, in_memory=db is None)
    return app


def create_service(
    db: Any = None, token_key: str | bytes | None = None, hasher: PasswordHasher | None = None
) -> Service:
    """Return the gateway with all models and acts; without ``db`` the data is in memory.

    ``GATEWAYFW_LOGIN_LIMIT`` is how often an address may try to log in; empty for no limit.
    """
    gw = gateway(require_access=True, **link_keys_from(os.environ, token_key))
    if db is None:
        db = mongomock.MongoClient().sample
    gw.odm.set_db(db)
    users = define_user(gw)
    auth = Auth(
        gw.context_fns,
        Tokens(token_key) if token_key else tokens_from(os.environ),
        load_user=lambda id_: find_caller(users, id_),
    )
    service = Service(
        gw=gw,
        auth=auth,
        hasher=hasher or Sha256Hasher(),  # for a new service: Pbkdf2Hasher()
        countries=define_country(gw),
        cities=define_city(gw),
        files=define_file(gw, read=signed_in(auth)),
        organizations=define_organization(gw),
        units=define_unit(gw),
        users=users,
        login_limit=os.environ.get("GATEWAYFW_LOGIN_LIMIT", LOGIN_LIMIT) or None,
    )
    for model in (user, organization, unit, file, country, city):
        model.register(service)
    return service


def find_caller(users: Model, id_: str) -> dict[str, Any] | None:
    """Return the caller with the fields that access hooks and acts need; never the password's hash."""
    known = {"first_name": 1, "last_name": 1, "email": 1, "isActive": 1, "isGhost": 1, "roles": 1}
    return users.find_one(filters={"_id": id_}, projection=known)


def tokens_from(environ: Mapping[str, str]) -> Tokens:
    """Return what issues and reads tokens, with the keys of the environment."""
    return Tokens(key_from_environment(environ), fallbacks=fallbacks_from_environment(environ))


def link_keys_from(environ: Mapping[str, str], token_key: str | bytes | None) -> dict[str, Any]:
    """Return the settings that sign links to files.

    They are made from the token keys, unless ``GATEWAYFW_LINK_KEY`` is set.
    """
    secret = token_key or environ.get("GATEWAYFW_TOKEN_KEY", "")
    if environ.get("GATEWAYFW_LINK_KEY") or not secret:
        return {}
    fallbacks = [] if token_key else fallbacks_from_environment(environ)
    return {"link_key": _link_key(secret), "link_key_fallbacks": [_link_key(each) for each in fallbacks]}


def _link_key(secret: str | bytes) -> str:
    key = secret if isinstance(secret, bytes) else secret.encode()
    return hmac.new(key, b"links to files", "sha256").hexdigest()


def options_from(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the options that the environment gives.

    ``GATEWAYFW_CORS``: ``*``, or origins separated by commas. ``GATEWAYFW_STATIC_PATH``:
    directories separated by ``:``. ``GATEWAYFW_PLAYGROUND``: true or false.
    ``GATEWAYFW_BASE_URL``: a prefix such as ``/api``.
    """
    options: dict[str, Any] = {}
    if cors := environ.get("GATEWAYFW_CORS", "").strip():
        options["cors"] = cors if cors == "*" else [origin.strip() for origin in cors.split(",") if origin.strip()]
    if static_path := environ.get("GATEWAYFW_STATIC_PATH"):
        options["static_path"] = [directory for directory in static_path.split(":") if directory]
    if playground := environ.get("GATEWAYFW_PLAYGROUND", "").strip():
        if playground.lower() not in _WORDS:
            raise DefinitionError("GATEWAYFW_PLAYGROUND: expected true or false")
        options["playground"] = _WORDS[playground.lower()]
    if base_url := environ.get("GATEWAYFW_BASE_URL"):
        options["url_prefix"] = base_url
    return options


def proxies_from(environ: Mapping[str, str]) -> int:
    """Return how many proxies stand in front (``GATEWAYFW_PROXIES``): their headers say who calls.

    Without a proxy it must stay 0, because then clients write these headers themselves.
    """
    text = environ.get("GATEWAYFW_PROXIES", "").strip() or "0"
    if text not in ("0", "1", "2", "3"):
        raise DefinitionError("GATEWAYFW_PROXIES: expected the number of proxies in front, 0 to 3")
    return int(text)
