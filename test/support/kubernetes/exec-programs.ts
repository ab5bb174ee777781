import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { PassThrough } from 'node:stream';
import type Docker from 'dockerode';
import { PseudoTerminal } from '../../../src/agent/shells/pseudo-terminal.ts';
import { eventually } from '../patience.ts';
import type { ExecProgram, ExecRequest } from './exec-server.ts';

/** What a container has by itself. */
const ENVIRONMENT = { PATH: process.env['PATH'] ?? '', HOME: '/tmp', LANG: 'C.UTF-8' };

/** A program of this machine in the place of one in a Pod. */
export function runHere({ command: [name = '', ...args], isTerminal }: ExecRequest): ExecProgram {
  if (isTerminal) return runInTerminal(name, args);
  const child = spawn(name, args, { env: ENVIRONMENT, cwd: '/', stdio: 'pipe', detached: true });
  const kill = (): void => killGroup(child.pid);
  const exitCode = once(child, 'exit').then(([code, signal]) => code ?? (signal === 'SIGKILL' ? 137 : 143));
  return { stdin: child.stdin, outputs: [child.stdout, child.stderr], exitCode, resize: () => {}, kill };
}

function runInTerminal(file: string, args: readonly string[]): ExecProgram {
  const output = new PassThrough();
  const exited = Promise.withResolvers<number>();
  const pty = new PseudoTerminal(
    { file, args, env: ENVIRONMENT, cwd: '/', cols: 80, rows: 24 },
    {
      output: (data) => void output.write(data),
      ended: ({ exitCode, signal }) => {
        output.end();
        exited.resolve(exitCode ?? 128 + (constants.signals[`SIG${signal}` as NodeJS.Signals] ?? 0));
      },
    },
  );
  const stdin = new PassThrough();
  stdin.on('data', (data: Buffer) => pty.write(data, () => {}));
  return {
    stdin,
    outputs: [output],
    exitCode: exited.promise,
    resize: (cols, rows) => pty.resize(cols, rows),
    kill: () => killGroup(pty.pid),
  };
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // it has ended
  }
}

/** A program in a Docker container in the place of one in a Pod. */
export const runInContainer =
  (docker: Docker, id: string) =>
  async ({ command, isTerminal }: ExecRequest): Promise<ExecProgram> => {
    const exec = await docker.getContainer(id).exec({
      Cmd: [...command],
      Tty: isTerminal,
      AttachStdin: true,
      AttachStdout: true,
      AttachStderr: true,
    });
    const stream = await exec.start({ hijack: true, stdin: true, Tty: isTerminal });
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    if (isTerminal) stream.pipe(stdout);
    else {
      docker.modem.demuxStream(stream, stdout, stderr);
      stream.once('end', () => {
        stdout.end();
        stderr.end();
      });
    }
    const ended = async (): Promise<number> => {
      const { ExitCode } = await eventually(
        () => exec.inspect(),
        ({ Running }) => !Running,
      );
      return ExitCode ?? 137;
    };
    return {
      stdin: stream,
      outputs: isTerminal ? [stdout] : [stdout, stderr],
      exitCode: once(stdout, 'end').then(ended),
      resize: (cols, rows) => void exec.resize({ w: cols, h: rows }).catch(() => {}),
      // It ends with its container.
      kill: () => {},
    };
  };
