import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { Value } from '@sinclair/typebox/value';
import { BerthError } from '../client/index.ts';
import { commandTools } from './command-tools.ts';
import { containerTools } from './container-tools.ts';
import { fileTools } from './file-tools.ts';
import { type Tool, type ToolContext, ToolRefusal } from './tool.ts';

const INSTRUCTIONS =
  'Berth runs Linux containers. Files are in /workspace, which survives restarts; all else in a container may not. ' +
  'Long output is cut: the answer says where to continue.';

/** An MCP server for one connection. Its tools act by `context.berth`, so they have the rights of its token. */
export function mcpServer(context: ToolContext, version: string): Server {
  const tools = [...containerTools(context.scope), ...commandTools, ...fileTools];
  const server = new Server(
    { name: 'berth', title: 'Berth', version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(described) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const tool = tools.find(({ name }) => name === params.name);
    return tool === undefined
      ? failed(`there is no tool ${params.name}`)
      : await called(tool, context, params.arguments ?? {}, signal);
  });
  return server;
}

const described = ({ name, description, input, hints }: Tool) => ({
  name,
  description,
  inputSchema: { ...input, type: 'object' as const },
  annotations: hints,
});

/** Faults of the arguments and refusals of the service are results, which the model reads. */
async function called(
  tool: Tool,
  context: ToolContext,
  args: Record<string, unknown>,
  signal: AbortSignal,
): Promise<CallToolResult> {
  const [fault] = Value.Errors(tool.input, args);
  if (fault !== undefined) return failed(`${fault.path.slice(1) || 'arguments'}: ${fault.message}`);
  try {
    return { content: [{ type: 'text', text: await tool.run(context, args, signal) }] };
  } catch (error) {
    if (error instanceof ToolRefusal) return failed(error.message);
    if (error instanceof BerthError) return failed(refusalText(error));
    throw error;
  }
}

const refusalText = ({ message, code, retryAfterSeconds }: BerthError): string =>
  `${message} (${code}${retryAfterSeconds === null ? '' : `, retry after ${retryAfterSeconds} s`})`;

const failed = (text: string): CallToolResult => ({ content: [{ type: 'text', text }], isError: true });
