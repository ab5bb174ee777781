import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { CliError } from '../cli-error.ts';
import { type Io, printable } from '../io/io.ts';
import { type Call, type KeyringTool, toolOf } from './keyring-tool.ts';

/**
 * Secrets in the keyring of the user's desktop, by id. It may ask the user to unlock it. All throw a {@link CliError}
 * where there is no keyring, or it refuses.
 */
export type Keyring = {
  /** Throws unless secrets can be written, read and removed. */
  check(): Promise<void>;
  /** null: there is none with this id. */
  read(id: string): Promise<string | null>;
  /** What this process read or wrote last, or else `read`. */
  recall(id: string): Promise<string | null>;
  /** `label`: what the user sees in the keyring. Letters, digits and `.:/-` only. */
  write(id: string, label: string, secret: string): Promise<void>;
  remove(id: string): Promise<void>;
};

/** The keyring that `env` names, through the program that the system has for it. */
export function systemKeyring({ env }: Pick<Io, 'env'>, platform = process.platform): Keyring {
  const recent = new Map<string, string>();
  const ask = (choose: (tool: KeyringTool) => Call): Promise<string | null> => {
    const tool = toolOf(platform);
    return run(tool, choose(tool), env);
  };
  const keyring: Keyring = {
    async check() {
      const id = randomUUID();
      await keyring.write(id, 'Berth', 'test');
      await keyring.remove(id);
    },
    async read(id) {
      const found = await ask((tool) => tool.read(id));
      const secret = found === null ? null : decoded(found);
      if (secret === null) recent.delete(id);
      else recent.set(id, secret);
      return secret;
    },
    recall: async (id) => recent.get(id) ?? (await keyring.read(id)),
    async write(id, label, secret) {
      await ask((tool) => tool.write(id, label, encoded(secret)));
      // why: the interactive mode of `security` ends with 0 after a failure, too
      if ((await keyring.read(id)) !== secret) throw noKeyring('it did not keep what was written');
    },
    async remove(id) {
      await ask((tool) => tool.remove(id));
      recent.delete(id);
    },
  };
  return keyring;
}

/** One word of letters and digits, which no program and no line of a command changes. */
const encoded = (secret: string): string => Buffer.from(secret).toString('base64url');
const decoded = (text: string): string => Buffer.from(text.trim(), 'base64url').toString();

/** Its output; null when there is no such secret. */
function run(tool: KeyringTool, { args, input }: Call, env: Io['env']): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(tool.program, args, { env: { ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (part: string) => (output[name] += part));
    child.once('error', () => reject(noKeyring(`${tool.program} could not be started`, tool.install)));
    // It may end before it has read its input.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.once('close', (code) => {
      if (code === 0) return resolve(output.stdout);
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
