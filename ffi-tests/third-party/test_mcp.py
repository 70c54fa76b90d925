"""A gateway starts MCP servers with the official SDK's own client, and takes over what that has started."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path

from tests.processes import SOON, own_children
from tests.stage import GRACE_MS, MARK, Stage, hear, say

SERVER = Path(__file__).with_name("mcp_server.py")


class Mcp(Stage):
    def test_servers_of_the_sdk(self) -> None:
        """Two servers; one is taken over. The other shows what becomes of one that is not."""
        gateway = self.owner(runs_two_servers)
        said = gateway.hears()
        taken, left = ([gateway.meet(pid) for pid in said[which]] for which in ("taken", "left"))
        for process in taken + left:
            self.assert_lives(process, "a server's process, before")
        moment = gateway.kill()
        for process in taken:
            self.assert_gone(process, moment, "a process of the server that was taken over")
        self.assertTrue(left[0].wait_gone(SOON), "a server ends at the end of its input")
        self.assert_lives(left[1], "the helper of the server that was not taken over")


def runs_two_servers() -> None:
    asyncio.run(gateway())


async def gateway() -> None:
    import hermes_spawn
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    hermes_spawn.configure(grace_ms=GRACE_MS)
    parameters = StdioServerParameters(command=sys.executable, args=[str(SERVER)], env={MARK: os.environ[MARK]})
    async with AsyncExitStack() as stack:
        families = []
        for take_over in (True, False):
            before = own_children()
            client = await stack.enter_async_context(Client(parameters))
            if take_over:
                # The SDK does not tell what it has started. Each server leads a group of its own.
                started = own_children() - before
                hermes_spawn.own_process_groups(pid for pid in started if os.getpgid(pid) == pid)
            result = await client.call_tool("start_helper", {})
            families.append(result.structured_content["result"])
        assert hermes_spawn.status()["slots_in_use"] == 1
        say(taken=families[0], left=families[1])
        await asyncio.to_thread(hear)
