"""A server of the Model Context Protocol; its tools are acts with ``mcp=True``.

A tool is named ``MODEL_ACT``, with the service in front unless that is ``main``; it takes ``set`` and ``get`` as the
act's JSON Schema says. A call is an ordinary request, with the endpoint's hooks, access rules, limits and envelope. An
error becomes a tool error with nothing but the message.

Needs the extra ``gatewayfw[mcp]``.

Source: https://modelcontextprotocol.io/specification/2025-06-18/server/tools; names and forms are our choice.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from gatewayfw.errors import DefinitionError, missing_extra
from gatewayfw.export.jsonschema.document import ActEntry, acts_of, details_schema
from gatewayfw.spelling import MAIN

if TYPE_CHECKING:
    from mcp.server import Server

#: Sends the body of a request and returns the envelope of the reply. It may block.
Send = Callable[[dict[str, Any]], Mapping[str, Any]]
Schema = dict[str, Any]

_ABOUT = (
    "Each tool runs one act of a gateway. `set` is what the act needs; `get` names the fields of the result to show, "
    "with 1, or with an object for what a relation embeds. Only `_id` is shown unasked."
)


@final
@dataclass(frozen=True)
class ActTool:
    """An act as a tool.

    Attributes:
        schema: of the arguments, ``{"set", "get"}``; a part that takes nothing may be left out.
    """

    name: str
    entry: ActEntry
    schema: Schema

    @property
    def description(self) -> str:
        """The author's description of the act."""
        return str(self.entry.act["description"]) or self.entry.title

    def body(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the body of the request for a call."""
        named = {"service": self.entry.service, "model": self.entry.model, "act": self.entry.name}
        return {**named, "details": {"set": {}, "get": {}, **arguments}}


def tools_of(catalog: Mapping[str, Any]) -> dict[str, ActTool]:
    """Return the tools of a gateway by name, in the order of registration.

    Raises:
        DefinitionError: two acts would have the same name.
    """
    found: dict[str, ActTool] = {}
    for entry in acts_of(catalog):
        if not entry.act["mcp"]:
            continue
        service = () if entry.service == MAIN else (entry.service,)
        name = "_".join((*service, entry.model, entry.name))
        if name in found:
            raise DefinitionError(f"mcp: {found[name].entry.title} and {entry.title} would both be the tool {name}")
        found[name] = ActTool(name, entry, details_schema(catalog, entry.act))
    return found


def make_server(catalog: Mapping[str, Any], send: Send, name: str = "gatewayfw") -> Server[Any]:
    """Return the official package's server of the tools.

    ``send`` runs their calls, in threads.

    Raises:
        DefinitionError: the package is not installed, or two acts would be the same tool.
    """
    try:
        import anyio  # All of an optional extra.
        import anyio.to_thread
        from mcp.server import Server
        from mcp.shared.exceptions import MCPError
        from mcp.types import INVALID_PARAMS, CallToolResult, ListToolsResult, TextContent, Tool
    except ImportError as error:
        raise missing_extra("a server for language models", "mcp", "mcp") from error
    tools = tools_of(catalog)
    listed = [
        Tool(name=tool.name, title=tool.entry.title, description=tool.description, input_schema=tool.schema)
        for tool in tools.values()
    ]

    async def list_tools(_context: Any, _params: Any) -> ListToolsResult:
        return ListToolsResult(tools=listed)

    async def call_tool(_context: Any, params: Any) -> CallToolResult:
        tool = tools.get(params.name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, f"there is no tool {params.name!r}")
        envelope = await anyio.to_thread.run_sync(send, tool.body(params.arguments or {}))
        text, failed = _unpack(envelope)
        return CallToolResult(content=[TextContent(type="text", text=text)], is_error=failed)

    return Server(name, version=digest(catalog), instructions=_ABOUT, on_list_tools=list_tools, on_call_tool=call_tool)


def serve(server: Server[Any]) -> None:
    """Serve one client over standard input and output until it ends; blocks.

    What acts print meanwhile goes to standard error.
    """
    import anyio  # All from the optional extra, which has made the server.
    from mcp.server.stdio import stdio_server

    async def run() -> None:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(run)


def digest(catalog: Mapping[str, Any]) -> str:
    """Return the first 16 hexadecimal digits of a catalog's SHA-256.

    It is that of its JSON, the order of keys included.
    """
    text = json.dumps(catalog, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _unpack(envelope: Mapping[str, Any]) -> tuple[str, bool]:
    if envelope["success"] is True:
        return json.dumps(envelope["body"], ensure_ascii=False), False
    return str(envelope["body"]["message"]), True
