import type { Readable, Writable } from 'node:stream';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { mcpServer } from './server.ts';
import type { ToolContext } from './tool.ts';

/** Serves the program at the other end until it closes the input. Nothing else may write to the output. */
export async function serveOverStdio(
  context: ToolContext,
  version: string,
  { input, output }: { readonly input: Readable; readonly output: Writable },
): Promise<void> {
  const server = mcpServer(context, version);
  const ended = new Promise<void>((resolve) => {
    input.once('end', resolve).once('close', resolve);
  });
  await server.connect(new StdioServerTransport(input, output));
  await ended;
  // ends the tools that still run
  await server.close();
}
