import { spawn } from 'node:child_process';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import type { Test } from 'tap';
import type { Ports } from '../../../src/app/main/compose-options.ts';
import type { Io } from '../../../src/cli/io/io.ts';
import { main } from '../../../src/cli/main.ts';
import { aFolder } from '../folder.ts';
import { serverOf } from '../terminal/terminals.ts';
import { anApiToken, aPerson, aService, type ServiceOptions } from './service.ts';

/** From its sources, so that no build is needed. */
export const SOURCE = path.resolve('src/cli/berth.ts');
export const BUILT = path.resolve('web/dist/cli/berth.mjs');

export type Ran = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/**
 * The command in a folder and with a home of its own, as on another machine. `run` runs it in this process; `start` and
 * `spawned` in a process of its own, for signals, pipes and what its own path matters to.
 */
export function theCommand(
  t: Test,
  server: string | null,
  token?: string,
  program = SOURCE,
  node = process.execPath,
) {
  const home = aFolder(t);
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    XDG_CONFIG_HOME: path.join(home, 'config'),
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
    ...(server !== null && { BERTH_SERVER: server }),
    ...(token !== undefined && { BERTH_TOKEN: token }),
  };
  /** Runs while the test does something else. */
  const start = (args: readonly string[], input: string | Buffer | 'open' = '') => {
    const child = spawn(node, [program, ...args], { cwd: home, env });
    const output = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].on('data', (part: Buffer) => void output[name].push(part));
    const bytes = (): Buffer => Buffer.concat(output.stdout);
    const stdout = (): string => bytes().toString();
    const stderr = (): string => Buffer.concat(output.stderr).toString();
    // The command may end before it has read all of it.
    child.stdin.on('error', () => {});
    if (input !== 'open') child.stdin.end(input);
    const ended = new Promise<Ran>((resolve) =>
      child.once('close', (code) => resolve({ code, stdout: stdout(), stderr: stderr() })),
    );
    t.teardown(() => child.kill());
    return {
      ended,
      stdout,
      stderr,
      bytes,
      input: child.stdin,
      kill: (signal: NodeJS.Signals = 'SIGINT') => child.kill(signal),
    };
  };
  const spawned = (args: readonly string[], input?: string | Buffer): Promise<Ran> =>
    start(args, input).ended;
  const run = program === SOURCE ? here(env) : spawned;
  return { home, env, run, spawned, start };
}

/** A service, and the command signed in there with an API token of Ada. */
export async function theCommandOfAda(t: Test, ports: Partial<Ports> = {}, options: ServiceOptions = {}) {
  const service = await aService(ports, options);
  const server = await serverOf(t, service);
  const ada = await aPerson(service, 'ada');
  const { token } = await anApiToken(service, ada);
  return { service, server, ada, token, ...theCommand(t, server, token) };
}

const here =
  (env: Io['env']) =>
  (args: readonly string[], input: string | Buffer = ''): Promise<Ran> =>
    runHere(env, args, Readable.from(input.length === 0 ? [] : [Buffer.from(input)], { objectMode: false }));

/** Runs it in this process, with this standard input. */
export async function runHere(env: Io['env'], args: readonly string[], input: Readable): Promise<Ran> {
  const [out, err] = [collected(), collected()];
  const io = { in: input, out: out.stream, err: err.stream, env } as unknown as Io;
  const code = await main(args, io);
  return { code, stdout: out.text(), stderr: err.text() };
}

function collected() {
  const parts: Buffer[] = [];
  const stream = new Writable({
    write(part: Buffer, _encoding, done) {
      parts.push(part);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(parts).toString() };
}
