import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Test } from 'tap';
import { installPackages, missingPackages } from '../../../src/adapters/docker/engine/host-packages.ts';
import { run } from '../../../src/adapters/docker/host/host-commands.ts';
import { aFolder } from '../folder.ts';

const PROGRAMS = { ssh: 'openssh-client', scp: 'openssh-client', sftp: 'openssh-client', rsync: 'rsync' };

/** Ensures the distribution's SSH programs. */
export async function sshPrograms(): Promise<void> {
  await install([...new Set(await missingPackages(PROGRAMS))]);
}

/** Ensures that this machine can serve files by SFTP. */
export async function sftpServer(): Promise<void> {
  if (!existsSync('/usr/lib/openssh/sftp-server')) await install(['openssh-sftp-server']);
}

async function install(missing: readonly string[]): Promise<void> {
  const log = { warn() {}, info() {}, error() {} };
  if (missing.length > 0) await installPackages(missing, { progress() {}, log });
}

/** A user's SSH settings: keys, the server's keys, and a host `NAME` for each container. */
export type SshHome = { readonly folder: string; readonly publicKey: string; readonly config: string };

export async function sshHome(
  t: Test,
  { port, knownHosts }: { readonly port: number; readonly knownHosts: readonly string[] },
): Promise<SshHome> {
  const folder = aFolder(t);
  mkdirSync(folder, { recursive: true });
  const key = path.join(folder, 'id');
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  writeFileSync(path.join(folder, 'known_hosts'), knownHosts.join('\n'));
  const config = path.join(folder, 'config');
  const lines = [
    'Host *',
    '  HostName localhost',
    `  Port ${port}`,
    `  IdentityFile ${key}`,
    '  IdentitiesOnly yes',
    '  IdentityAgent none',
    '  BatchMode yes',
    `  UserKnownHostsFile ${path.join(folder, 'known_hosts')}`,
    '  StrictHostKeyChecking yes',
  ];
  writeFileSync(config, `${lines.join('\n')}\n`);
  return { folder, publicKey: readFileSync(`${key}.pub`, 'utf8').trim(), config };
}

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

export type Started = {
  readonly child: ChildProcessWithoutNullStreams;
  readonly stdout: () => string;
  readonly ended: Promise<Ended>;
};

/** Starts `ssh`, `scp` or `sftp` with these settings. It ends with `t`. */
export function start(t: Test, { config }: SshHome, program: string, args: readonly string[]): Started {
  const child = spawn(program, ['-F', config, ...args]);
  const chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  child.stdout.on('data', (chunk) => chunks.stdout.push(chunk));
  child.stderr.on('data', (chunk) => chunks.stderr.push(chunk));
  child.stdin.on('error', () => {});
  const text = (of: keyof typeof chunks) => Buffer.concat(chunks[of]).toString();
  const ended = new Promise<Ended>((resolve) =>
    child.once('close', (code) => resolve({ code, stdout: text('stdout'), stderr: text('stderr') })),
  );
  t.teardown(async () => {
    child.kill();
    await ended;
  });
  return { child, stdout: () => text('stdout'), ended };
}

/** Runs it to its end, with this input. */
export async function finish(
  t: Test,
  home: SshHome,
  program: string,
  args: readonly string[],
  input = '',
): Promise<Ended> {
  const { child, ended } = start(t, home, program, args);
  child.stdin.end(input);
  return await ended;
}
