"""A client made with the official Python SDK: reads {"command", "args", "steps"} from standard input
and writes what came of each step."""

import asyncio
import json
import os
import sys

import mcp_types as types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client


async def sample(_context, params):
    said = params.messages[-1].content.text
    content = types.TextContent(type="text", text=f"heard: {said}")
    return types.CreateMessageResult(role="assistant", model="none", content=content)


async def elicit(_context, _params):
    return types.ElicitResult(action="decline")


async def roots(_context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///srv/project", name="project")])


async def perform(client, step):
    if step.get("list"):
        return [plain(tool) for tool in (await client.list_tools()).tools]
    if "call" in step:
        return plain(await client.call_tool(step["call"], step["arguments"]))
    if "prompt" in step:
        return plain(await client.get_prompt(step["prompt"], step["arguments"]))
    return plain(await client.read_resource(step["read"]))


def plain(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


async def main():
    task = json.load(sys.stdin)
    server = StdioServerParameters(command=task["command"], args=task["args"], env=dict(os.environ))
    outcomes = []
    with open(os.devnull, "w") as nowhere:
        async with Client(
            stdio_client(server, errlog=nowhere),
            mode="legacy",
            sampling_callback=sample,
            elicitation_callback=elicit,
            list_roots_callback=roots,
        ) as client:
            for step in task["steps"]:
                try:
                    outcomes.append({"ok": await perform(client, step)})
                except Exception as error:
                    outcomes.append({"error": f"{type(error).__name__}: {error}"})
    json.dump(outcomes, sys.stdout)


asyncio.run(main())
