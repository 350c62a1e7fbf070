// Two hosts of many servers, the TypeScript SDK's clients of both eras:
//
//	node hostproof.mjs legacy|modern '[{"command":"CMD","args":["ARG"],"env":{},"calls":[["tool",{}],…]},…]'
//
// legacy is SDK v1, with which most hosts are built, and modern is SDK v2, which
// the inspector brings along. One server after the other, it lists the tools with
// the SDK's own checks and makes the calls, and prints one JSON array of what it
// was given or why not.
const [era, servers] = process.argv.slice(2);
const sdk = era === 'legacy' ? '@modelcontextprotocol/sdk/client' : '@modelcontextprotocol/client';
const { Client } = await import(era === 'legacy' ? `${sdk}/index.js` : sdk);
const { StdioClientTransport } = await import(era === 'legacy' ? `${sdk}/stdio.js` : `${sdk}/stdio`);
const options = era === 'legacy' ? {} : { versionNegotiation: { mode: { pin: '2026-07-28' } } };

async function visit({ command, args, env, calls }) {
  const client = new Client({ name: 'hostproof.mjs', version: '1' }, { capabilities: {}, ...options });
  const results = [];
  try {
    await client.connect(new StdioClientTransport({ command, args, env: { ...process.env, ...env }, stderr: 'inherit' }));
    const { tools } = await client.listTools();
    for (const [name, input] of calls) results.push(await client.callTool({ name, arguments: input }));
    return { tools, results };
  } catch (err) {
    return { failed: String(err), results };
  } finally {
    await client.close();
  }
}

const seen = [];
for (const server of JSON.parse(servers)) seen.push(await visit(server));
console.log(JSON.stringify(seen));
