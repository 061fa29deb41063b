"""Uses `tome mcp` through the official client: every lifecycle that the package knows.

Prints a line `done <way> <protocol version>` for each. Anything unexpected is an exception.
"""

import asyncio
import os
import sys

import mcp
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

SERVER = StdioServerParameters(command=sys.argv[1], args=["mcp", "--toolsets", "all"], env=dict(os.environ))


def field(thing, *names):
    """A field under whichever name this version of the package has for it."""
    for name in names:
        if hasattr(thing, name):
            return getattr(thing, name)
    raise AttributeError(names)


async def use(session, way):
    """The same with a session of either kind."""
    tools = {tool.name: tool for tool in (await session.list_tools()).tools}
    assert len(tools) >= 17, sorted(tools)
    for name in ("recall_memory", "memory_write", "coder_memory_store", "expand_grip"):
        assert name in tools, sorted(tools)
    hints = tools["memory_delete"].annotations
    assert field(hints, "destructive_hint", "destructiveHint") is True

    path = f"notes/{way}.md"
    content = f"Tokens rotate every hour ({way}).\n"
    wrote = await session.call_tool("memory_write", {"path": path, "content": content})
    assert not field(wrote, "is_error", "isError"), wrote
    read = await session.call_tool("memory_read", {"path": path})
    assert content in read.content[0].text, read
    assert f'from="note {path}"' in read.content[0].text, read
    assert field(read, "structured_content", "structuredContent") is None, read
    question = {"query": f"how often do tokens rotate ({way})", "scope": "notes"}
    found = await session.call_tool("recall_memory", question)
    assert path in found.content[0].text, found
    refused = await session.call_tool("memory_read", {"path": "none.md"})
    assert field(refused, "is_error", "isError"), refused

    uris = [str(one.uri) for one in (await session.list_resources()).resources]
    assert "tome://index" in uris and f"tome://note/{path}" in uris, uris
    note = await session.read_resource(f"tome://note/{path}")
    assert content in note.contents[0].text, note
    templates = await session.list_resource_templates()
    assert len(field(templates, "resource_templates", "resourceTemplates")) == 2

    prompts = [prompt.name for prompt in (await session.list_prompts()).prompts]
    assert prompts == ["memory-recall", "memory-store"], prompts
    guide = await session.get_prompt("memory-recall", {"task": "mend the login"})
    assert guide.messages[0].content.text.endswith("mend the login"), guide


async def by_hand():
    async with stdio_client(SERVER) as (reader, writer):
        async with ClientSession(reader, writer) as session:
            hello = await session.initialize()
            assert field(hello, "server_info", "serverInfo").name == "tome", hello
            assert "recall_memory" in hello.instructions, hello
            await use(session, "by-hand")
            print("done by-hand", field(hello, "protocol_version", "protocolVersion"))


async def by_client(mode):
    async with mcp.Client(SERVER, mode=mode) as client:
        await use(client, mode)
        print("done", mode, getattr(client, "protocol_version", "?"))


async def main():
    await by_hand()
    if hasattr(mcp, "Client"):
        for mode in ("legacy", "auto", "2026-07-28"):
            await by_client(mode)


asyncio.run(main())
