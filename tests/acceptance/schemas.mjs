// A server without any SDK, whose tools promise in their output schemas what no token can keep:
// `node schemas.mjs`. Each tool returns a personal value where its schema is strict.

import { createInterface } from "node:readline";

const mail = "marie.novak@example.eu";
const object = (properties, rest = {}) => ({ type: "object", properties, ...rest });
const value = (schema) => object({ v: schema }, { required: ["v"] });
const tools = {
  format: [value({ type: "string", format: "email" }), { v: mail }],
  pattern: [value({ type: "string", pattern: "^[^@]+@[^@]+$" }), { v: mail }],
  maxlen: [value({ type: "string", maxLength: 6 }), { v: "a@b.co" }],
  enum: [value({ type: "string", enum: [mail] }), { v: mail }],
  integer: [value({ type: "integer" }), { v: 4111111111111111 }],
  propnames: [
    { type: "object", propertyNames: { format: "email" }, additionalProperties: true },
    { [mail]: 1 },
  ],
  addl: [
    { type: "object", patternProperties: { "@": { type: "string" } }, additionalProperties: false },
    { [mail]: "x" },
  ],
};

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "schemas", version: "1" },
  }),
  "tools/list": () => ({
    tools: Object.entries(tools).map(([name, [outputSchema]]) => ({
      name,
      inputSchema: { type: "object" },
      outputSchema,
    })),
  }),
  "tools/call": ({ name }) => {
    const structuredContent = tools[name][1];
    return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = answers[method];
  const rest = answer ? { result: answer(params) } : { error: { code: -32601, message: "no such method" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...rest })}\n`);
}
