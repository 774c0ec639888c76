"""A server of the Model Context Protocol; its tools are acts with ``mcp=``.

A tool is named ``MODEL_ACT``, with the service in front unless that is ``main``; it takes ``set`` and ``get`` as the
act's JSON Schema says, and gives what its ``returns`` says as text and as structured content; the latter has to be an
object, so any other result is its ``result``. A call is an ordinary request, with the endpoint's hooks, access rules,
limits and envelope. An error becomes a tool error with nothing but the message. ``mcp`` may be a word that says what
the act does with the service's own data, and that it does nothing else: ``read`` it, ``add`` to it, or ``change`` it
so that a repetition changes nothing more.

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
from gatewayfw.export.jsonschema.document import ActEntry, acts_of, details_schema, result_schema
from gatewayfw.export.jsonschema.kinds import object_of
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
_GET = 'What to show of the result beside `_id`: {"name": 1}, or an object in place of 1 for what a relation embeds.'
#: What clients are told of an act, by its ``mcp``; of True what the protocol says of tools without hints.
HINTS: Mapping[bool | str, Mapping[str, bool]] = {
    True: {"read_only_hint": False, "destructive_hint": True, "idempotent_hint": False, "open_world_hint": True},
    "read": {"read_only_hint": True, "destructive_hint": False, "idempotent_hint": True, "open_world_hint": False},
    "add": {"read_only_hint": False, "destructive_hint": False, "idempotent_hint": False, "open_world_hint": False},
    "change": {"read_only_hint": False, "destructive_hint": True, "idempotent_hint": True, "open_world_hint": False},
}


@final
@dataclass(frozen=True)
class ActTool:
    """An act as a tool.

    Attributes:
        schema: of the arguments, ``{"set", "get"}``; a part that takes nothing may be left out.
        output: the schema of the structured content.
        is_wrapped: whether that is ``{"result"}``, as the act's result need not be an object.
    """

    name: str
    entry: ActEntry
    schema: Schema
    output: Schema
    is_wrapped: bool

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
        schema = details_schema(catalog, entry.act)
        if entry.act["get"]["kind"] == "selection":
            schema["properties"]["get"]["description"] = _GET
        found[name] = ActTool(name, entry, schema, *_output(catalog, entry.act))
    return found


def _output(catalog: Mapping[str, Any], act: Mapping[str, Any]) -> tuple[Schema, bool]:
    result, defs = result_schema(catalog, act)
    whole = defs[result["$ref"].removeprefix("#/$defs/")] if "$ref" in result else result
    is_wrapped = whole.get("type") != "object"
    schema = object_of({"result": result}, ["result"]) if is_wrapped else {"type": "object", **result}
    return schema | ({"$defs": defs} if defs else {}), is_wrapped


def make_server(catalog: Mapping[str, Any], send: Send, name: str = "gatewayfw") -> Server[Any]:
    """Return the official package's server of the tools.

    ``send`` runs their calls, in threads.

    Raises:
        DefinitionError: the package is not installed, or two acts would be the same tool.
    """
    try:
        from anyio import to_thread  # All of an optional extra.
        from jsonschema import Draft202012Validator
        from mcp.server import Server
        from mcp.shared.exceptions import MCPError
        from mcp.types import INVALID_PARAMS, CallToolResult, ListToolsResult, TextContent, Tool, ToolAnnotations
    except ImportError as error:
        raise missing_extra("a server for language models", "mcp", "mcp") from error
    tools = tools_of(catalog)
    listed = [
        Tool(
            name=tool.name,
            title=tool.entry.title,
            description=tool.description,
            input_schema=tool.schema,
            output_schema=tool.output,
            annotations=ToolAnnotations(**HINTS[tool.entry.act["mcp"]]),
        )
        for tool in tools.values()
    ]
    validators = {name: Draft202012Validator(tool.output) for name, tool in tools.items()}

    async def list_tools(_context: Any, _params: Any) -> ListToolsResult:
        return ListToolsResult(tools=listed)

    async def call_tool(_context: Any, params: Any) -> CallToolResult:
        tool = tools.get(params.name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, f"there is no tool {params.name!r}")
        arguments = params.arguments or {}
        for given, value in arguments.items():
            if given not in ("set", "get") or not isinstance(value, Mapping):
                return failed(f"{given}: the tool takes set and get, each an object")
        envelope = await to_thread.run_sync(send, tool.body(arguments))
        if envelope["success"] is not True:
            return failed(str(envelope["body"]["message"]))
        text = json.dumps(envelope["body"], ensure_ascii=False)
        shown = {"result": envelope["body"]} if tool.is_wrapped else envelope["body"]
        # Clients refuse all of a result that is not as announced, such as that of an act without its `returns`.
        for error in validators[tool.name].iter_errors(shown):
            return failed(f"done, but not as announced ({error.json_path}: {error.message}): {text}")
        return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=shown)

    def failed(text: str) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)

    version = hashlib.sha256(json.dumps(catalog).encode()).hexdigest()[:16]  # other tools, another version
    return Server(name, version=version, instructions=_ABOUT, on_list_tools=list_tools, on_call_tool=call_tool)


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
