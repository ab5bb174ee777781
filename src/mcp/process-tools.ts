import { Type } from '@sinclair/typebox';
import type { Process, Schemas } from '../client/index.ts';
import { MAX_OUTPUT_BYTES } from './output.ts';
import {
  aTool,
  closed,
  containerOf,
  DESTROYS,
  inContainer,
  READS,
  RUNS,
  type Tool,
  type ToolContext,
} from './tool.ts';

const SIGNALS = ['HUP', 'INT', 'QUIT', 'KILL', 'USR1', 'USR2', 'TERM', 'CONT', 'STOP'] as const;
const SIZE = { cols: 120, rows: 40 };

const ofProcess = { process: Type.String({ description: 'Name or id.' }), ...inContainer };

const shown = ({ id, name, command, status, exit_code, signal, ended_by }: Schemas['Process']): object => ({
  id,
  name,
  command,
  status,
  exit_code,
  signal,
  ended_by,
});

async function processOf(
  context: ToolContext,
  { process, container }: { readonly process: string; readonly container?: string | undefined },
  signal: AbortSignal,
): Promise<Process> {
  const found = await containerOf(context, { container }, signal);
  return await found.processes.get(process, { signal });
}

const startProcess = aTool({
  name: 'start_process',
  description:
    'Start a shell command that runs on by itself, such as a server or a long build. Read it with read_process_output.',
  input: closed({
    command: Type.String({ description: 'For sh -c.', maxLength: 32_768 }),
    ...inContainer,
    name: Type.Optional(Type.String({ description: 'To find it again.' })),
    workdir: Type.Optional(Type.String({ description: 'Default: /workspace.' })),
    stdin: Type.Optional(Type.Boolean({ description: 'Whether it takes input.' })),
    terminal: Type.Optional(Type.Boolean({ description: 'Whether it runs in a terminal, and takes input.' })),
    timeout_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 604_800 })),
  }),
  hints: RUNS,
  async run(context, { command, container, name, workdir, stdin, terminal, timeout_seconds }, signal) {
    const found = await containerOf(context, { container }, signal);
    const { info } = await found.processes.start(command, {
      signal,
      ...(name !== undefined && { name }),
      ...(workdir !== undefined && { cwd: workdir }),
      ...(stdin !== undefined && { stdin }),
      ...(terminal === true && { pty: SIZE }),
      ...(timeout_seconds !== undefined && { timeoutSeconds: timeout_seconds }),
    });
    return JSON.stringify(shown(info));
  },
});

const listProcesses = aTool({
  name: 'list_processes',
  description: 'List the running processes of a container, and those that ended in the last day.',
  input: closed(inContainer),
  hints: READS,
  async run(context, args, signal) {
    const found = await containerOf(context, args, signal);
    const all = await found.processes.list({ signal });
    return JSON.stringify(
      all.map(({ info }) => shown(info)),
      null,
      1,
    );
  },
});

const readOutput = aTool({
  name: 'read_process_output',
  description:
    'Read what a process has printed, at most 50 kB at a time. The last line says where to continue.',
  input: closed({
    ...ofProcess,
    after: Type.Optional(
      Type.String({ pattern: '^[0-9]{1,15},[0-9]{1,15}$', description: 'As an earlier answer said.' }),
    ),
  }),
  hints: READS,
  async run(context, { after = '0,0', ...args }, signal) {
    const found = await processOf(context, args, signal);
    const [stdout = 0, stderr = 0] = after.split(',').map(Number);
    const at = { stdout, stderr };
    const texts = { stdout: '', stderr: '' };
    let bytes = 0;
    for await (const piece of found.output.from({ after: at, follow: false, signal })) {
      if (bytes > 0 && bytes + piece.bytes.length > MAX_OUTPUT_BYTES) break;
      const { stream, offset, text } = piece;
      if (offset > at[stream]) texts[stream] += `[… ${offset - at[stream]} bytes are no longer kept …]\n`;
      texts[stream] += text;
      at[stream] = offset + piece.bytes.length;
      bytes += piece.bytes.length;
    }
    const { status, exit_code } = await found.refresh({ signal });
    const errors = texts.stderr === '' ? '' : `\n[stderr]\n${texts.stderr}`;
    const end = status === 'ended' ? `ended, exit code ${exit_code ?? 'unknown'}` : status;
    return `${texts.stdout}${errors}\n[${end}; continue after ${at.stdout},${at.stderr}]`;
  },
});

const writeInput = aTool({
  name: 'write_process_input',
  description: 'Send text to the input of a process. Lines need their line feed.',
  input: closed({
    ...ofProcess,
    text: Type.String({ maxLength: 200_000 }),
    end: Type.Optional(Type.Boolean({ description: 'Whether the input ends after it.' })),
  }),
  hints: RUNS,
  async run(context, { text, end = false, ...args }, signal) {
    const found = await processOf(context, args, signal);
    if (text !== '') await found.write(text);
    if (end) await found.closeInput();
    return `${found.name} has the input`;
  },
});

const signalProcess = aTool({
  name: 'signal_process',
  description: 'Signal a process and everything that it started. Without a signal, end it.',
  input: closed({
    ...ofProcess,
    signal: Type.Optional(Type.Union(SIGNALS.map((signal) => Type.Literal(signal)))),
  }),
  hints: DESTROYS,
  async run(context, { signal: name, ...args }, signal) {
    const found = await processOf(context, args, signal);
    if (name === undefined) await found.kill();
    else await found.signal(name);
    return JSON.stringify(shown(found.info));
  },
});

export const processTools: readonly Tool[] = [
  startProcess,
  listProcesses,
  readOutput,
  writeInput,
  signalProcess,
];
