import { Type } from '@sinclair/typebox';
import { type CommandResult, runIn } from './command-result.ts';
import { firstPart, MAX_OFFSET_BYTES, MAX_OUTPUT_BYTES, readPart } from './output.ts';
import { aTool, closed, containerOf, inContainer, READS, RUNS, type Tool } from './tool.ts';

/** A longer command should be a process. */
export const MAX_COMMAND_SECONDS = 600;
const DEFAULT_COMMAND_SECONDS = 60;
const LOG_LINES = 200;

const runCommand = aTool({
  name: 'run_command',
  description: 'Run a shell command in a container and wait for its end. Start servers with start_process.',
  input: closed({
    command: Type.String({ description: 'For sh -c.', maxLength: 32_768 }),
    ...inContainer,
    workdir: Type.Optional(Type.String({ description: 'Default: /workspace.' })),
    stdin: Type.Optional(Type.String()),
    timeout_seconds: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_COMMAND_SECONDS, description: 'Default: 60.' }),
    ),
  }),
  hints: RUNS,
  async run(context, { command, container, workdir, stdin, timeout_seconds }, signal) {
    const found = await containerOf(context, { container }, signal);
    const body = {
      command: ['sh', '-c', command],
      timeout_seconds: timeout_seconds ?? DEFAULT_COMMAND_SECONDS,
      ...(workdir === undefined ? {} : { workdir }),
      ...(stdin === undefined ? {} : { stdin }),
    };
    return resultText(await runIn(context, found, body, signal));
  },
});

const resultText = ({ stdout, stderr, exitCode }: CommandResult): string =>
  [stdout.text(), stderr.isEmpty ? '' : `[stderr]\n${stderr.text()}`, endText(exitCode)]
    .filter((part) => part !== '')
    .join('\n');

function endText(exitCode: CommandResult['exitCode']): string {
  if (exitCode === undefined) return '[the connection to the container was lost: the command may still run]';
  return exitCode === null ? '[ended by the time limit]' : `[exit code ${exitCode}]`;
}

const searchFiles = aTool({
  name: 'search_files',
  description: 'Search text files for lines that match an extended regular expression.',
  input: closed({
    pattern: Type.String({ minLength: 1, maxLength: 1_000 }),
    ...inContainer,
    path: Type.Optional(Type.String({ description: 'A folder. Default: /workspace.' })),
    ignore_case: Type.Optional(Type.Boolean({ description: 'Of ASCII letters. Default: false.' })),
    include: Type.Optional(Type.String({ description: 'File names, for example *.ts.' })),
    max_matches: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, description: 'Default: 200.' })),
  }),
  hints: READS,
  async run(context, { pattern, container, path, ignore_case, include, max_matches: max = 200 }, signal) {
    const found = await containerOf(context, { container }, signal);
    const options = {
      regex: true,
      ignoreCase: ignore_case ?? false,
      max,
      signal,
      ...(path !== undefined && { path }),
      ...(include !== undefined && { include }),
    };
    const { matches, complete } = await found.files.search(pattern, options);
    const lines = matches.map(({ path, line, text }) => `${path}:${line}:${text}`);
    const more = complete ? [] : ['[… there may be more matches …]'];
    const answer = [...lines, ...more].join('\n') || 'no matches';
    return answer.length <= MAX_OUTPUT_BYTES
      ? answer
      : `${answer.slice(0, MAX_OUTPUT_BYTES)}\n[… cut: search for less …]`;
  },
});

const listPorts = aTool({
  name: 'list_ports',
  description: 'List the TCP ports on which programs in a container listen.',
  input: closed(inContainer),
  hints: READS,
  async run(context, args, signal) {
    const found = await containerOf(context, args, signal);
    return JSON.stringify(await found.ports({ signal }));
  },
});

const readLogs = aTool({
  name: 'read_logs',
  description: "Read the last lines of the log of a container's main process.",
  input: closed({
    ...inContainer,
    tail: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, description: 'Lines. Default: 200.' })),
    offset: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_OFFSET_BYTES,
        description: 'Bytes of these lines to skip.',
      }),
    ),
  }),
  hints: READS,
  async run(context, { container, tail = LOG_LINES, offset = 0 }, signal) {
    const { id } = await containerOf(context, { container }, signal);
    const params = { path: { id }, query: { tail: String(tail) } };
    const { response } = await context.berth.api.GET('/api/containers/{id}/logs', {
      params,
      signal,
      parseAs: 'stream' as const,
    });
    if (response.body === null) return '';
    const { bytes, isWhole } = await readPart(response.body, offset, MAX_OUTPUT_BYTES);
    return firstPart(bytes, offset, isWhole);
  },
});

export const commandTools: readonly Tool[] = [runCommand, searchFiles, listPorts, readLogs];
