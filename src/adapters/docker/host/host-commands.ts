import { access, constants, readdir, readFile, rmdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import {
  type CommandOptions,
  type CommandResult,
  programEnvironment,
  runCommand,
} from '../../child-process.ts';
import { cgroupName } from '../engine/engine-names.ts';

/** The part of a logger that this adapter needs. */
export type Log = {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
};

/** A user's PATH often lacks the folders of administration tools. */
export const adminPath = (): string =>
  [process.env['PATH'] ?? '', '/usr/local/sbin', '/usr/sbin', '/sbin', '/usr/bin', '/bin'].join(delimiter);

/** Whether this process is root on Linux, as a private engine requires. */
export const isRoot = (): boolean => process.platform === 'linux' && process.getuid?.() === 0;

/** Like `runCommand`, never rejects. */
export const run = (
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> =>
  runCommand(command, args, {
    ...options,
    env: { ...programEnvironment(), ...options.env, PATH: adminPath(), LC_ALL: 'C' },
  });

/** Runs a command on one machine: this one, or the machine of an engine. Never rejects. */
export type Run = (
  command: string,
  args: readonly string[],
  options?: Pick<CommandOptions, 'input'>,
) => Promise<CommandResult>;

/** Runs a command that must succeed, and returns its stdout. */
export const runOrThrow = (
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<string> => mustSucceed(run, command, args, options);

/** The same on the machine of `runThere`. */
export async function mustSucceed(
  runThere: Run,
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<string> {
  const { code, stdout, stderr } = await runThere(command, args, options);
  if (code === 0) return stdout;
  throw new Error(`${command} ${args.join(' ')} ended with ${code}: ${lastLines(stderr || stdout, 3)}`);
}

/** The end of a program's output, for a one-line message. */
export const lastLines = (text: string, count: number): string =>
  text.trim().split('\n').slice(-count).join(' | ').slice(-600);

/** Full path of a program, or null when it is not installed. */
export async function which(program: string): Promise<string | null> {
  for (const folder of adminPath().split(delimiter)) {
    const path = join(folder, program);
    if (folder !== '' && (await isExecutable(path))) return path;
  }
  return null;
}

const isExecutable = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

/** A small file's text, or null when unreadable. */
export const readText = (path: string): Promise<string | null> => readFile(path, 'utf8').catch(() => null);

export async function mountsBelow(folder: string): Promise<readonly string[]> {
  const points = ((await readText('/proc/self/mountinfo')) ?? '')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '');
  return points.filter((point) => point.startsWith(`${folder}/`));
}

export type HostProcess = { readonly pid: number; readonly argv: readonly string[] };

/** All processes of this machine with a command line; kernel threads have none. */
export async function processes(): Promise<readonly HostProcess[]> {
  const names = await readdir('/proc');
  const found = await Promise.all(
    names
      .filter((name) => /^\d+$/.test(name))
      .map(async (name) => {
        const line = await readText(`/proc/${name}/cmdline`);
        return line ? { pid: Number(name), argv: line.split('\0').slice(0, -1) } : null;
      }),
  );
  return found.filter((each) => each !== null);
}

/** Start time in clock ticks since boot, which with the pid identifies a process. Null when it has ended. */
export async function startTicks(pid: number): Promise<string | null> {
  const stat = await readText(`/proc/${pid}/stat`);
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields === undefined || fields[0] === 'Z' ? null : (fields[19] ?? null);
}

/** Sends a signal; ignores an ended process. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // ended meanwhile
  }
}

/** Removes the parent control group of an installation's containers in each hierarchy, unless used or absent. */
export async function removeCgroups(instanceId: string): Promise<void> {
  const name = cgroupName(instanceId);
  const base = '/sys/fs/cgroup';
  const hierarchies = await readdir(base).catch(() => []);
  const folders = [base, ...hierarchies.map((hierarchy) => `${base}/${hierarchy}`)];
  for (const folder of folders) await rmdir(`${folder}/${name}`).catch(() => {});
}
