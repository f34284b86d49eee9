"""Let an MCP server serve: one client over standard input and output, or many at an address."""
import asyncio
import sys
from urllib.parse import urlsplit


def serve(server, address: str | None = None) -> None:
    """Serve until the client hangs up, or at an address until Ctrl-C. server: an mcp.server.lowlevel.Server.

    Raises ValueError for an address that others can reach: nobody is asked for a key there, and web pages are not kept out.
    """
    if address is None:
        asyncio.run(_serve_pipes(server))
        return
    import uvicorn   # comes with mcp

    place = urlsplit(address)
    if place.scheme != "http" or place.hostname not in ("127.0.0.1", "localhost") or not place.port:
        raise ValueError(f"{address!r} is no address on this machine alone, with a port, as http://127.0.0.1:8000.")
    print(f"Serving at {place.scheme}://{place.netloc}/mcp", file=sys.stderr, flush=True)
    uvicorn.run(server.streamable_http_app(host=place.hostname), host=place.hostname, port=place.port, log_level="warning")


async def _serve_pipes(server) -> None:
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
