"""What is insecure or slow in a configuration and policies, without a database.

Only app, gateway and environment are checked, so the environment must be that of the server. Flask's command line takes
the app's debug mode from it, whatever the app itself says. No text shows a key, a URI or anything else that may be
secret. What counts as a problem, a warning or a hint is our choice.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from ipaddress import ip_address
from typing import Any, Literal
from urllib.parse import urlsplit

from flask import Flask

from gatewayfw.acts import Act
from gatewayfw.acts.checks import acts_by_name
from gatewayfw.acts.hooks import find_access_rules, find_marks, find_unmet
from gatewayfw.auth.tokens import FALLBACKS_VARIABLE, KEY_VARIABLE, fallbacks_from_environment
from gatewayfw.core import Gateway
from gatewayfw.environment import VARIABLE, is_development
from gatewayfw.errors import DefinitionError
from gatewayfw.limits import MEMORY
from gatewayfw.odm.upkeep.indexes import wanted_indexes
from gatewayfw.policies.declaration import ContextFn, Policy, names_of
from gatewayfw.policies.joining import hidden_for_somebody, policies_of
from gatewayfw.schemas import Schemas
from gatewayfw.settings import Settings
from gatewayfw.storage.filter_operators import paths_in

Finding = tuple[Literal["problem", "warning", "hint"], str]

#: Seconds after which gunicorn kills a worker by default.
_TIMEOUT = 30
#: Fewest bytes of a token key (RFC 7518, section 3.2, for HS256), and of what Flask signs cookies with.
_KEY_BYTES, _SECRET_BYTES = 32, 16
#: Fewest different bytes of a key. 32 random decimal digits have fewer once in ten million keys.
_DIFFERENT = 6
_PLACEHOLDER = re.compile(rb"change.?(me|this)|example|password|secret|your.?key", re.IGNORECASE)
#: How many acts or models are named.
_NAMED = 10


def findings(app: Flask, gateway: Gateway, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Yield what is wrong, may go wrong, or could be better.

    Each finding is its kind and a text of one line. In development many are left out: if ``GATEWAYFW_ENV`` is
    ``development`` or, if it is not set, the app is in debug or testing.
    """
    acts, workers = dict(acts_by_name(gateway.acts)), _workers(environ)
    in_production = not (is_development(environ) if environ.get(VARIABLE) else app.debug or app.testing)
    yield from _debug(app, environ)
    yield from _memory(gateway, in_production, workers)
    yield from _deadline(gateway.settings, _option(environ, "t", "timeout"))
    yield from _remote(gateway)
    yield from _unruled(acts)
    yield from _unruled_services(gateway)
    yield from _unfed(acts)
    if in_production:
        yield from _token_key(app, acts.values(), environ)
        yield from _secret_key(app)
        yield from _mounts(app, gateway)
        yield from _replies(gateway.settings)
        yield from _links(gateway)
        yield from _unlimited(acts)
        yield from _counters(gateway.settings, acts.values(), workers)


def _workers(environ: Mapping[str, str]) -> int | None:
    """Return how many processes gunicorn starts; None if unknown."""
    told = _option(environ, "w", "workers")
    concurrency = environ.get("WEB_CONCURRENCY", "").strip()
    return int(concurrency) if told is None and re.fullmatch("[0-9]{1,6}", concurrency) else told


def _option(environ: Mapping[str, str], short: str, long: str) -> int | None:
    """Return the last such number on gunicorn's command line in the environment."""
    told = re.findall(rf"(?<!\S)(?:-{short}|--{long})[=\s]*([0-9]{{1,6}})(?!\S)", environ.get("GUNICORN_CMD_ARGS", ""))
    return int(told[-1]) if told else None


# -- the app and its server


def _debug(app: Flask, environ: Mapping[str, str]) -> Iterator[Finding]:
    if app.debug and not app.testing and not is_development(environ):
        yield "warning", f"debug mode is on: switch it off, or set {VARIABLE}=development if this is development"


def _memory(gateway: Gateway, in_production: bool, workers: int | None) -> Iterator[Finding]:
    try:
        shared = gateway.odm.storage.multi_process
    except DefinitionError:  # No database was set.
        return
    if shared:
        return
    if gateway.odm.database.memory_is_meant and in_production and (workers or 1) == 1:
        yield "warning", "the data is in memory, as set_db(..., memory=True) says: it ends with the process"
    elif in_production or (workers or 1) > 1:
        yield (
            "problem",
            "the data is in memory: each worker has its own, and it ends with the process; "
            f"use MongoDB, or one worker and {VARIABLE}=development",
        )


def _deadline(settings: Settings, told: int | None) -> Iterator[Finding]:
    timeout = _TIMEOUT if told is None else told
    if 0 < timeout <= settings.deadline:
        whose = "gunicorn's default timeout" if told is None else "gunicorn's timeout"
        yield (
            "warning",
            f"the deadline of {settings.deadline:g} s is not below {whose} of {timeout} s: "
            "a worker may be killed in the middle of an act",
        )


def _token_key(app: Flask, acts: Iterable[Act], environ: Mapping[str, str]) -> Iterator[Finding]:
    """Check the key in the environment; a key in code cannot be seen here."""
    key = environ.get(KEY_VARIABLE, "").encode(errors="surrogateescape")
    if not key:
        hooks = (hook for act in acts for hook in act.early_hooks)
        if any(step.token for step in find_marks(hooks)):
            yield "hint", f"{KEY_VARIABLE} is not set: keep the key that the app gives its tokens out of the code"
    fallbacks = [(FALLBACKS_VARIABLE, _encoded(each)) for each in fallbacks_from_environment(environ)]
    for name, each in ((KEY_VARIABLE, key), *fallbacks):
        if each and (flaw := _flaw(each, _KEY_BYTES)):
            yield (
                "problem",
                f"{name} {flaw}: anyone who guesses it can forge tokens; "
                'python -c "import secrets; print(secrets.token_hex(32))" prints a good one',
            )
    if key and key == _encoded(app.secret_key):
        yield "warning", f"{KEY_VARIABLE} is the app's SECRET_KEY too: who learns one has both; use two"


def _secret_key(app: Flask) -> Iterator[Finding]:
    key = _encoded(app.secret_key)
    flaw = _flaw(key, _SECRET_BYTES) if key else ""
    if flaw:
        yield "warning", f"the app's SECRET_KEY {flaw}: anyone who guesses it can forge session cookies"


def _encoded(key: object) -> bytes:
    if isinstance(key, str):
        return key.encode(errors="surrogateescape")
    return key if isinstance(key, bytes) else b""


def _flaw(key: bytes, least: int) -> str:
    """Say what makes a key easy to guess, without showing it; empty if nothing."""
    if len(key) < least:
        return f"has fewer than {least} bytes"
    if _PLACEHOLDER.search(key):
        return "reads like a placeholder"
    if len(set(key)) < _DIFFERENT:
        return f"has fewer than {_DIFFERENT} different characters"
    # The last repetition may be cut short: it is the key without its start that the key starts with. What repeats
    # fewer bytes than this has too few different ones.
    if any(key.startswith(key[length:]) for length in range(_DIFFERENT, min(len(key) // 2 + 1, _KEY_BYTES))):
        return "repeats itself"
    return ""


# -- the gateway


def _mounts(app: Flask, gateway: Gateway) -> Iterator[Finding]:
    for name, mounted in app.extensions["gatewayfw"].items():
        if mounted is not gateway:
            continue
        endpoint, rule = gateway.mounts[app][name], next(app.url_map.iter_rules(f"{name}.gateway")).rule
        if endpoint.playground is not None:
            yield "warning", f"{rule}: the playground is on: it tells everybody which services, models and acts exist"
        if endpoint.cors.origins == "*":
            yield "warning", f"{rule}: cors is '*': pages of every origin may read the replies; list the origins"


def _replies(settings: Settings) -> Iterator[Finding]:
    if settings.expose_errors:
        yield "warning", "setting 'expose_errors' is on: replies show the messages of unexpected exceptions"
    if settings.error_detail:
        told = "every error carries what a client can ask for with the header X-Gateway-Detail"
        yield "hint", f"setting 'error_detail' is on: {told}"


def _remote(gateway: Gateway) -> Iterator[Finding]:
    for name, service in gateway.acts.get_acts_with_services().items():
        if isinstance(service, str):
            url = urlsplit(service)
            if url.scheme == "http" and not _is_local(url.hostname or ""):
                yield "warning", f"service {name!r}: requests and tokens go to {url.hostname} unencrypted; use https"


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:  # a name
        return host == "localhost" or host.endswith(".localhost")


def _unruled(acts: Mapping[str, Act]) -> Iterator[Finding]:
    names = [name for name, act in acts.items() if not act.public and not act.access_rules]
    why = "say public=True or mark the hook that decides with access_rule (setting require_access demands it)"
    yield from _hint("neither public nor with an access rule", names, why)


def _unruled_services(gateway: Gateway) -> Iterator[Finding]:
    names = [service.name for service in gateway.acts.remote_services() if not find_access_rules(service.pre_act)]
    why = "unless they judge callers themselves, put an access rule into set_service(..., pre_act=[...])"
    yield from _hint("services elsewhere that anybody may call through this gateway", names, why)


def _unfed(acts: Mapping[str, Act]) -> Iterator[Finding]:
    for name, act in acts.items():
        if step := find_unmet(act.early_hooks):
            yield (
                "hint",
                f"{name}: no hook comes before {step.name}, which needs {step.needs!r} in the context; "
                "a function of the app around the request must put it there",
            )


def _links(gateway: Gateway) -> Iterator[Finding]:
    if gateway.files.need_links() and not gateway.settings.link_key:
        yield "warning", "only links open the stored files, and without the setting link_key there are none"


def _unlimited(acts: Mapping[str, Act]) -> Iterator[Finding]:
    names = [name for name, act in acts.items() if act.public and act.limit is None]
    yield from _hint("public without a limit", names, "limit='60/minute' bounds what one caller costs")


def _counters(settings: Settings, acts: Iterable[Act], workers: int | None) -> Iterator[Finding]:
    if settings.rate_limit_storage != MEMORY or workers == 1 or all(act.limit is None for act in acts):
        return
    remedy = "set rate_limit_storage (GATEWAYFW_RATE_LIMIT_STORAGE) to a mongodb:// URI"
    if workers is None:
        yield "hint", f"each process counts calls for limits by itself: with more than one, {remedy}"
    else:
        yield "warning", f"each of {workers} workers counts calls for limits by itself: {remedy}"


def _hint(what: str, names: list[str], why: str) -> Iterator[Finding]:
    """Yield a hint about things with these names, if there are any."""
    if names:
        yield "hint", f"{what}: {first_names(names)}; {why}"


def first_names(names: Sequence[str]) -> str:
    """Return the first of some names, and how many more there are."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


# -- policies


def policy_findings(schemas: Schemas, roles: Collection[str]) -> Iterator[Finding]:
    """Yield what policies seem to have left open, and wrong or slow ``rows``."""
    yield from (("warning", text) for text in _left_open(schemas, roles))
    for schema in schemas.get_schemas().values():
        known = {"_id", *names_of(schemas, schema.name)}
        heads = {"_id"} | {index.keys[0][0] for index in wanted_indexes(schemas, schema)}
        for policy in policies_of(schemas, schema.name):
            paths = compared_by(policy.rows)
            for path in sorted(paths):
                if path.partition(".")[0] not in known:
                    yield "problem", f"{policy.where}: rows: model {schema.name} has no {path}"
            if paths and heads.isdisjoint(paths):
                where = f"{policy.where}, model {schema.name}"
                asked = " or ".join(sorted(paths))
                yield "hint", f"{where}: no index begins with {asked}; every read reads all documents"


def _left_open(schemas: Schemas, roles: Collection[str]) -> Iterator[str]:
    """Yield roles that no policy names, models open beside closed ones, telling lists."""
    policies: tuple[Policy, ...] = schemas.policies
    if not policies:
        return
    named = {role for policy in policies for role in policy.roles or ()}
    if unnamed := [role for role in roles if role not in named]:
        yield f"no policy names the roles {', '.join(unnamed)}: what has a policy is closed to them"
    yield from _telling_lists(schemas)
    if schemas.settings.require_policy:
        return
    if opened := [name for name in schemas.get_schemas() if not policies_of(schemas, name)]:
        yield f"models without a policy are open to all callers: {', '.join(opened)} (require_policy closes them)"


def _telling_lists(schemas: Schemas) -> Iterator[str]:
    for target in schemas.get_schemas():
        for reverse in schemas.get_related_relations(target).values():
            if reverse.sort is not None and reverse.sort.field in hidden_for_somebody(schemas, reverse.member):
                yield (
                    f"{target}.{reverse.name}: which {reverse.member} are in the list tells of {reverse.sort.field}, "
                    "which a policy hides; sort it by another field, or hide it, too"
                )


def compared_by(rows: ContextFn | None) -> set[str]:
    """Return the paths that a filter of ``rows`` compares, whatever the context.

    Empty if it has no filter then, or asks for more than a context: what it does with a real one is unknown.
    """
    try:
        found = None if rows is None else rows(_Anything())
    except Exception:  # The seam: an author's function may fail on a context that is none.
        return set()
    if not isinstance(found, Mapping):
        return set()
    return {".".join(path) if isinstance(path, tuple) else str(path) for path in paths_in(found)}


class _Anything(dict[Any, Any]):
    """A context, and each part of it."""

    def __missing__(self, key: object) -> _Anything:
        return _Anything()

    def __getattr__(self, name: str) -> _Anything:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Anything()
