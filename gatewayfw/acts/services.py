"""Remote services, as acts see them.

`gatewayfw.remote.HttpService` calls one over HTTP.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, final

from gatewayfw.acts.hooks import Hook, call_with_body, parse_hooks
from gatewayfw.carriers import Carrier
from gatewayfw.errors import DefinitionError
from gatewayfw.spelling import PYTHON


@final
@dataclass(frozen=True)
class RemoteReply:
    """The answer of a remote service: status and envelope, unchanged.

    The status is in 200..299 or 400..599.

    ``headers`` holds those of `gatewayfw.wire.posting.TOLD` that came with an error, and only
    ``Idempotent-Replay`` of a success. Without them a reply with an unknown outcome (503,
    ``outcome_unknown``) would look like one that wrote nothing.
    """

    status: int
    envelope: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


class RemoteService:
    """A service of another gateway.

    Attributes:
        name: the name it is registered under, for messages.
        given: the URL as it was given.
        pre_act: the hooks that run before a request is posted on.
        act_hooks: the same, each callable with the body.

    Raises:
        DefinitionError: a hook is not valid.
    """

    def __init__(self, url: str, name: str, pre_act: Sequence[Hook]) -> None:
        self.name = name
        self.given = url
        try:
            self.act_hooks = parse_hooks("preAct", pre_act, PYTHON)
        except DefinitionError as error:
            raise DefinitionError(f"service {name}: {error.message}") from None
        self.pre_act = self._own = tuple(pre_act)

    def set_common(self, hooks: Sequence[Hook]) -> None:
        """Let these hooks, checked already, come before its own, and no other common ones."""
        self.pre_act = (*hooks, *self._own)
        self.act_hooks = tuple(map(call_with_body, self.pre_act))

    def call(
        self,
        body: Mapping[str, Any],
        headers: Mapping[str, str],
        *,
        seconds: float,
        carriers: Iterable[Carrier] = (),
        address: str = "",
    ) -> RemoteReply:
        """Forward a request to the service ``main`` there, and return the answer.

        What ``carriers`` find in the headers is passed on, too: of all cookies those that carry a token or a role.
        ``address`` is that of the caller's connection. Takes at most ``seconds``.

        Raises:
            BadRequest: the body or a forwarded header cannot be written.
            RemoteError: unreachable, too many hops, or an answer that is not an envelope.
            RemoteTimeout: too slow.
        """
        raise NotImplementedError


class Connect(Protocol):
    """Makes a `RemoteService`, which connects later."""

    def __call__(self, url: str, /, *, name: str, pre_act: Sequence[Hook], headers: Sequence[str]) -> RemoteService:
        """Return the service at a URL.

        ``headers`` are names of request headers that are passed on to it.

        Raises:
            DefinitionError: the URL, a hook or a header is not valid.
        """
