import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { CliError } from '../cli-error.ts';
import { type Io, printable } from '../io/io.ts';
import { type Call, type KeyringTool, toolOf } from './keyring-tool.ts';

/** As long as a user may need to unlock it. */
const UNLOCK_MS = 120_000;

/**
 * Secrets in the keyring of the user's desktop, by id. It may ask the user to unlock it. All throw a {@link CliError}
 * with the code `no_keyring` where there is no keyring, it stays locked, it refuses, or it does not respond within
 * `limitMs`.
 */
export type Keyring = {
  /** Throws unless secrets can be written, read and removed. */
  check(): Promise<void>;
  /** null: there is none with this id. */
  read(id: string, limitMs?: number): Promise<string | null>;
  /** What this process read or wrote last, or else `read`. */
  recall(id: string): Promise<string | null>;
  /** `label`: what the user sees in the keyring. Letters, digits and `.:/-` only. */
  write(id: string, label: string, secret: string, limitMs?: number): Promise<void>;
  /** Throws also when the secret is still there afterwards. */
  remove(id: string): Promise<void>;
};

/** The keyring that `env` names, through the program that the system has for it. */
export function systemKeyring({ env }: Pick<Io, 'env'>, platform = process.platform): Keyring {
  const recent = new Map<string, string>();
  const ask = (choose: (tool: KeyringTool) => Call, limitMs: number): Promise<Output | null> => {
    const tool = toolOf(platform);
    return run(tool, choose(tool), env, limitMs);
  };
  const isLocked = async (id: string, limitMs: number): Promise<boolean> => {
    const { search } = toolOf(platform);
    if (search === undefined) return false;
    const found = await ask(() => search(id), limitMs);
    return found !== null && found.stdout + found.stderr !== '';
  };
  const keyring: Keyring = {
    async check() {
      const id = randomUUID();
      await keyring.write(id, 'Berth', 'test');
      await keyring.remove(id);
    },
    async read(id, limitMs = UNLOCK_MS) {
      const found = await ask((tool) => tool.read(id), limitMs);
      if (found === null && (await isLocked(id, limitMs))) throw noKeyring('it is locked');
      const secret = found === null ? null : decoded(found.stdout);
      if (secret === null) recent.delete(id);
      else recent.set(id, secret);
      return secret;
    },
    recall: async (id) => recent.get(id) ?? (await keyring.read(id)),
    async write(id, label, secret, limitMs = UNLOCK_MS) {
      await ask((tool) => tool.write(id, label, encoded(secret)), limitMs);
      // why: the interactive mode of `security` ends with 0 after a failure, too
      if ((await keyring.read(id, limitMs)) !== secret) throw noKeyring('it did not keep what was written');
    },
    async remove(id) {
      // why: `secret-tool` removes only what is unlocked, ends with 0 all the same, and only reading unlocks
      if ((await keyring.read(id)) === null) return;
      await ask((tool) => tool.remove(id), UNLOCK_MS);
      if ((await keyring.read(id)) !== null) throw noKeyring('it did not remove the secret');
    },
  };
  return keyring;
}

/** One word of letters and digits, which no program and no line of a command changes. */
const encoded = (secret: string): string => Buffer.from(secret).toString('base64url');
const decoded = (text: string): string => Buffer.from(text.trim(), 'base64url').toString();

type Output = { readonly stdout: string; readonly stderr: string };

/** Its output; null when there is no such secret. It is killed at its limit. */
function run(
  tool: KeyringTool,
  { args, input }: Call,
  env: Io['env'],
  limitMs: number,
): Promise<Output | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(tool.program, args, { env: { ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (part: string) => (output[name] += part));
    const limit = setTimeout(() => {
      child.kill('SIGKILL');
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
      reject(noKeyring(`${tool.program} did not respond within ${limitMs / 1000} s`));
    }, limitMs);
    child.once('error', () => {
      clearTimeout(limit);
      reject(noKeyring(`${tool.program} could not be started`, tool.install));
    });
    // It may end before it has read its input.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.once('close', (code) => {
      clearTimeout(limit);
      if (code === 0) return resolve(output);
      const words = printable(output.stderr.trim().split('\n')[0] ?? '');
      if (tool.isAbsent(code, words)) return resolve(null);
      reject(noKeyring(words || `${tool.program} ended with ${code}`));
    });
  });
}

const noKeyring = (words: string, next?: string): CliError =>
  new CliError(`The keyring cannot be used: ${words}.`, {
    code: 'no_keyring',
    next: next ?? 'Unlock it in your desktop, or keep the sign-in in a file: berth login --no-keyring',
  });
