// A client made with one of the official TypeScript SDKs: `node client.mjs v1|v2` reads
// {"command", "args", "steps"} from standard input and writes what came of each step.

import { text } from "node:stream/consumers";

const version = process.argv[2];
const v1 = version === "v1";
const { Client } = await import(v1 ? "@modelcontextprotocol/sdk/client/index.js" : "@modelcontextprotocol/client");
const { StdioClientTransport } = await import(
  v1 ? "@modelcontextprotocol/sdk/client/stdio.js" : "@modelcontextprotocol/client/stdio"
);
const types = v1 ? await import("@modelcontextprotocol/sdk/types.js") : undefined;

const { command, args, steps } = JSON.parse(await text(process.stdin));
const capabilities = { sampling: {}, elicitation: {}, roots: {} };
const client = new Client({ name: `acceptance-${version}`, version: "1" }, { capabilities });

// What the model, the user and the host say when a server asks.
client.setRequestHandler(v1 ? types.CreateMessageRequestSchema : "sampling/createMessage", (request) => ({
  role: "assistant",
  model: "none",
  content: { type: "text", text: `heard: ${request.params.messages.at(-1).content.text}` },
}));
client.setRequestHandler(v1 ? types.ElicitRequestSchema : "elicitation/create", () => ({ action: "decline" }));
client.setRequestHandler(v1 ? types.ListRootsRequestSchema : "roots/list", () => ({
  roots: [{ uri: "file:///srv/project", name: "project" }],
}));

async function perform(step) {
  if (step.list) return (await client.listTools()).tools;
  if (step.call) return await client.callTool({ name: step.call, arguments: step.arguments });
  if (step.prompt) return await client.getPrompt({ name: step.prompt, arguments: step.arguments });
  if (step.read) return await client.readResource({ uri: step.read });
  throw new Error("no such step");
}

await client.connect(new StdioClientTransport({ command, args, env: process.env, stderr: "ignore" }));
const outcomes = [];
for (const step of steps) {
  try {
    outcomes.push({ ok: await perform(step) });
  } catch (error) {
    outcomes.push({ error: String(error) });
  }
}
await client.close();
process.stdout.write(JSON.stringify(outcomes));
