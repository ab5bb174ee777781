import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { SOURCE } from './command.ts';

/** What a tool answered: its text, and whether that is a failure. */
export type ToolAnswer = { readonly text: string; readonly isError: boolean };

export type McpClient = {
  readonly client: Client;
  readonly tools: () => Promise<readonly string[]>;
  readonly call: (name: string, args?: Record<string, unknown>) => Promise<ToolAnswer>;
};

/** A client of the SDK, connected over `transport`; the test closes it. */
export async function mcpClient(transport: Transport): Promise<McpClient> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  return {
    client,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    async call(name, args = {}) {
      const { content, isError } = await client.callTool({ name, arguments: args });
      const [first] = content as { readonly text: string }[];
      return { text: first?.text ?? '', isError: isError === true };
    },
  };
}

/** Connected to `berth mcp`. */
export const mcpOverStdio = (
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  program = SOURCE,
): Promise<McpClient> =>
  mcpClient(
    new StdioClientTransport({
      command: process.execPath,
      args: [program, 'mcp', ...args],
      env: { ...env },
      stderr: 'ignore',
    }),
  );

/** Connected to a service's `/api/mcp`. */
export const mcpOverHttp = (address: string, token: string, query = ''): Promise<McpClient> =>
  mcpClient(
    new StreamableHTTPClientTransport(new URL(`${address.replace(/^ws/, 'http')}/api/mcp${query}`), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    }) as Transport,
  );
