import type { Container, Schemas } from '../client/index.ts';
import { OutputEnds } from './output.ts';
import type { ToolContext } from './tool.ts';

/** `exitCode` null: ended by the time limit; undefined: its end is not known. */
export type CommandResult = {
  readonly stdout: OutputEnds;
  readonly stderr: OutputEnds;
  readonly exitCode: number | null | undefined;
};

type Line =
  | { readonly stream: 'stdout' | 'stderr'; readonly data: string }
  | { readonly exit_code: number | null };

/** Runs a command to its end. Its output comes as a stream, so that it ends when nobody waits for it. */
export async function runIn(
  { berth }: ToolContext,
  { id }: Container,
  body: Schemas['ExecRequest'],
  signal: AbortSignal,
): Promise<CommandResult> {
  const { response } = await berth.api.POST('/api/containers/{id}/exec', {
    params: { path: { id } },
    body,
    signal,
    parseAs: 'stream' as const,
    headers: { accept: 'application/x-ndjson' },
  });
  const output = { stdout: new OutputEnds(), stderr: new OutputEnds() };
  if (response.body === null) return { ...output, exitCode: undefined };
  for await (const line of linesOf(response.body)) {
    if ('exit_code' in line) return { ...output, exitCode: line.exit_code };
    output[line.stream].add(line.data);
  }
  return { ...output, exitCode: undefined };
}

async function* linesOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<Line> {
  let rest = '';
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line) as Line;
  }
}
