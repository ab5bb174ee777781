import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { Test } from 'tap';
import { runOrThrow } from '../../../src/adapters/docker/host/host-commands.ts';
import { waitFor } from '../patience.ts';
import type { SshHome } from './ssh-programs.ts';

export type SshAgent = { readonly socket: string; readonly publicKey: string };

/** OpenSSH's agent with a new key that no file has. It ends with `t`. */
export async function anSshAgent(t: Test, { folder }: SshHome): Promise<SshAgent> {
  const [socket, key] = [path.join(folder, 'agent'), path.join(folder, 'in-agent')];
  const child = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' });
  const ended = once(child, 'close');
  t.teardown(async () => {
    child.kill();
    await ended;
  });
  await waitFor(() => existsSync(socket));
  await runOrThrow('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'of-the-agent', '-f', key]);
  await runOrThrow('ssh-add', ['-q', key], { env: { SSH_AUTH_SOCK: socket } });
  rmSync(key);
  return { socket, publicKey: readFileSync(`${key}.pub`, 'utf8').trim() };
}
