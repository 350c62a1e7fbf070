// The TypeScript SDK's client as a host of many servers:
//
//	node lists.mjs '[{"command":"CMD","args":["ARG"],"env":{}},…]'
//
// It lists the tools of each server with the SDK's own checks, one server after
// the other, and prints one JSON array of the names it was given or why not.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

async function list({ command, args, env }) {
  const client = new Client({ name: 'lists.mjs', version: '1' }, { capabilities: {} });
  try {
    await client.connect(new StdioClientTransport({ command, args, env: { ...process.env, ...env }, stderr: 'inherit' }));
    return { tools: (await client.listTools()).tools.map(({ name }) => ({ name })) };
  } catch (err) {
    return { failed: String(err) };
  } finally {
    await client.close();
  }
}

const seen = [];
for (const server of JSON.parse(process.argv[2])) seen.push(await list(server));
console.log(JSON.stringify(seen));
