"""An MCP server of the usual kind, with a helper process that does not care whether anybody still talks to it."""

import os
import subprocess

from mcp.server import MCPServer

server = MCPServer("family")


@server.tool()
def start_helper() -> list[int]:
    """Starts a helper that ignores SIGTERM; says who is who."""
    helper = subprocess.Popen(
        ["sh", "-c", "trap '' TERM; echo; while :; do sleep 600; done"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )
    assert helper.stdout is not None
    # It ignores SIGTERM from here on.
    helper.stdout.readline()
    return [os.getpid(), helper.pid]


server.run("stdio")
