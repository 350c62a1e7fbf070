// The TypeScript SDK's client as a host:
//
//	node client.mjs '[["echo",{"message":"hi"}],…]' CMD ARGS…
//
// It connects, lists everything with the SDK's own checks, makes the calls in
// order, and prints one JSON document of what it was given.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const [calls, command, ...args] = process.argv.slice(2);
const client = new Client({ name: 'client.mjs', version: '1' }, { capabilities: {} });
await client.connect(new StdioClientTransport({ command, args, env: process.env, stderr: 'inherit' }));

const can = client.getServerCapabilities();
const seen = { server: client.getServerVersion(), instructions: client.getInstructions(), results: [] };
seen.tools = (await client.listTools()).tools;
seen.prompts = can.prompts ? (await client.listPrompts()).prompts : [];
seen.resources = can.resources ? (await client.listResources()).resources : [];
for (const [name, input] of JSON.parse(calls)) {
  seen.results.push(await client.callTool({ name, arguments: input }).catch((err) => ({ failed: String(err) })));
}
await client.close();
console.log(JSON.stringify(seen));
