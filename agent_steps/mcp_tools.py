"""Lesson 22: tools of other programs, over the Model Context Protocol, and yours for others."""
import asyncio
import re
import sys
import warnings
from collections import Counter
from dataclasses import replace
from functools import partial

from agent_steps.call_with_tools import call_with_tools
from agent_steps.classroom.mcp_link import (
    Link, ServerError, checked_schema, printable, targets, without_doubles)
from agent_steps.classroom.mcp_results import as_result
from agent_steps.classroom.mcp_serving import serve
from agent_steps.full_tools import TOOL_DEFINITIONS
from agent_steps.make_it_safer import Workspace
from agent_steps.native_tools import NativeCall, check_tools, run_tool
from agent_steps.providers import connect
from agent_steps.providers.schemas import check_names, whole_schema
from agent_steps.providers.tools import Tool

FILE_TOOLS = ("list_files", "read_file", "write_file", "edit_file")   # for other programs
CODE_TOOLS = ("run_python_script", "run_python_code")   # for them, too, where that is asked for
LONGEST_DESCRIPTION = 1000   # characters that the model gets to read


def mcp_server(folder=".", code=False):
    """Return an MCP server that offers tools for a folder. code: also those that run code."""
    import mcp_types
    from mcp.server.lowlevel import Server

    workspace, names = Workspace(folder), FILE_TOOLS + (CODE_TOOLS if code else ())
    workspace.tools = {name: workspace.tools[name] for name in names}
    offered = [mcp_types.Tool(**each) for each in TOOL_DEFINITIONS if each["name"] in names]

    async def list_tools(context, asked):
        return mcp_types.ListToolsResult(tools=offered)

    async def call_tool(context, asked):
        text = await asyncio.to_thread(workspace.call_tool, asked.name, asked.arguments or {})
        part = mcp_types.TextContent(text=text)
        return mcp_types.CallToolResult(content=[part], is_error=text.startswith("Error: "))

    return Server("agent-steps", on_list_tools=list_tools, on_call_tool=call_tool)


def serve_mcp(folder=".", address=None, code=False):
    """Serve a folder: over pipes, or at an address such as http://127.0.0.1:8000."""
    serve(mcp_server(folder, code), address)


def remote_tool(link, description):
    """Make a Tool of what a server says about one. Raises ValueError for what cannot be one."""
    schema = whole_schema(checked_schema(description.input_schema))
    text = printable(description.description or "")[:LONGEST_DESCRIPTION]
    name = re.sub(r"[^A-Za-z0-9_-]", "_", description.name)[:64]

    def call(**arguments):
        try:
            return as_result(link.call(description.name, arguments))
        except ServerError as error:
            return f"Error: {error}"

    return Tool(name, text, schema, call, partial(check_names, schema), origin=link.name)


def remote_tools(link):
    """Make Tools of what a server describes. What cannot be one is left out, with a warning."""
    found = []
    for description in link.tools:
        try:
            found.append(remote_tool(link, description))
        except ValueError as error:
            warnings.warn(f"{link.name}: the tool {description.name!r} is left out: {error}")
    return without_doubles(found)


def merge_tools(local, remote):
    """Return tools of this process and those of servers in one list. Raises as check_tools does.

    Where two have the same name, those of servers are called SERVER__name. If a server has
    such a name already, the later one is left out, with a warning.
    """
    found = [*(check_tools(local).values() if local else []), *remote]
    names = Counter(each.name for each in found)
    named = [replace(each, name=f"{each.origin}__{each.name}"[:64])
             if each.origin and names[each.name] > 1 else each for each in found]
    return without_doubles(named)


class Connection:
    """Connections to servers. tools: for call_with_tools. Close it, or use it in a `with`."""

    def __init__(self, links):
        self.links = links
        self.tools = merge_tools([], [each for link in links for each in remote_tools(link)])

    def call(self, name, arguments):
        """Call a tool and return its result as text, as the model would get it."""
        tools = {each.name: each for each in self.tools}
        return run_tool(tools, NativeCall("", name, arguments))

    def close(self):
        """End all connections, and the servers that were started here. Twice does no harm."""
        for link in self.links:
            link.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def __repr__(self):
        names = {link: [each.name for each in self.tools if each.origin == link.name]
                 for link in self.links}
        return "\n".join(f"{link.name}: {link.state}, tools: {', '.join(names[link]) or 'none'}"
                         for link in self.links)


def connect_mcp(*servers, timeout=30.0, folder="."):
    """Connect to MCP servers. Returns a Connection. Raises ServerError if one cannot be reached.

    servers: each is an address, a command (a text or a list), a dict with command, args, env, a
    dict from names to these, or a list of these. timeout: seconds for each request. folder:
    where commands are started. Raises ValueError and TypeError for what is no server.
    """
    links = []
    try:
        for name, target in targets(servers):
            links.append(Link(name, target, timeout, folder))
        return Connection(links)
    except BaseException:
        for link in links:
            link.close()
        raise


def create_agent(servers, model=None, tools=(), **options):
    """Connect to servers and return a function from a prompt to a ToolLoopResult.

    servers: a Connection, or what connect_mcp takes. tools: local ones.
    options: for call_with_tools, as approve=. Without history= each prompt is a new beginning.
    The function has a close(). Raises what connect_mcp and check_tools raise.
    """
    model = model or connect()
    connection = servers if isinstance(servers, Connection) else connect_mcp(servers)
    everything = merge_tools(tools, connection.tools)

    def agent(prompt, history=()):
        messages = [*history, {"role": "user", "content": prompt}]
        return call_with_tools(model, messages, everything, **options)

    agent.close = connection.close
    return agent


if __name__ == "__main__":   # python -m agent_steps.mcp_tools FOLDER [ADDRESS]
    serve_mcp(*sys.argv[1:])
