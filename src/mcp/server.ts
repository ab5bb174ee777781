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
import { processTools } from './process-tools.ts';
import { type Tool, type ToolContext, ToolRefusal } from './tool.ts';

/** Often enough: clients give up calls that seem dead after about a minute. */
const PROGRESS_MS = 1_000;

const INSTRUCTIONS =
  'Berth runs Linux containers. Files are in /workspace, which survives restarts; all else in a container may not. ' +
  'Long output is cut: the answer says where to continue.';

/** An MCP server for one connection. Its tools act by `context.berth`, so they have the rights of its token. */
export function mcpServer(context: ToolContext, version: string): Server {
  const tools = [...containerTools(context.scope), ...commandTools, ...processTools, ...fileTools];
  const server = new Server(
    { name: 'berth', title: 'Berth', version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(described) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, sendNotification }) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (tool === undefined) return failed(`there is no tool ${params.name}`);
    const token = params._meta?.progressToken;
    const calling = called(tool, context, params.arguments ?? {}, signal);
    if (token === undefined || !context.notifies) return await calling;
    const stop = everySecond((seconds) => {
      const progress = { progressToken: token, progress: seconds, message: `${tool.name}: ${seconds} s` };
      sendNotification({ method: 'notifications/progress', params: progress }).catch(() => {});
    });
    return await calling.finally(stop);
  });
  return server;
}

/** Calls back with the seconds that have passed. Returns a function that stops it. */
function everySecond(report: (seconds: number) => void): () => void {
  const startMs = performance.now();
  const timer = setInterval(() => report(Math.round((performance.now() - startMs) / 1000)), PROGRESS_MS);
  return () => clearInterval(timer);
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
