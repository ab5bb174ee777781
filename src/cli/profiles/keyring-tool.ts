import { usageError } from '../cli-error.ts';

export type Call = { readonly args: readonly string[]; readonly input: string };

/** How a program of the system is asked for a secret by its id. Secrets are in its input, which others cannot read. */
export type KeyringTool = {
  readonly program: string;
  /** Where people get it. */
  readonly install: string;
  /** Whether it ended so because there is no such secret. */
  isAbsent(code: number | null, stderr: string): boolean;
  /**
   * Where `isAbsent` is also so for a locked secret that the user did not unlock. It has output when there is such a
   * secret, locked or not, and unlocks nothing.
   */
  search?(id: string): Call;
  write(id: string, label: string, secret: string): Call;
  read(id: string): Call;
  remove(id: string): Call;
};

/** Of libsecret, for every keyring that offers the Secret Service: GNOME Keyring, KWallet, KeePassXC. */
const SECRET_TOOL: KeyringTool = {
  program: 'secret-tool',
  install: 'Install it: apt install libsecret-tools',
  isAbsent: (code, stderr) => code === 1 && stderr === '',
  search: (id) => ({ args: ['search', ...attributes(id)], input: '' }),
  write: (id, label, secret) => ({ args: ['store', `--label=${label}`, ...attributes(id)], input: secret }),
  read: (id) => ({ args: ['lookup', ...attributes(id)], input: '' }),
  remove: (id) => ({ args: ['clear', ...attributes(id)], input: '' }),
};

const attributes = (id: string): readonly string[] => ['service', 'berth', 'account', id];

/** Of macOS. An argument would be visible to others, so the command that has the secret is in its input. */
const SECURITY: KeyringTool = {
  program: 'security',
  install: 'It belongs to macOS: /usr/bin must be in PATH.',
  isAbsent: (code) => code === 44,
  write: (id, label, secret) => ({
    args: ['-i'],
    input: `add-generic-password -U -s berth -a ${id} -l "${label}" -w ${secret}\n`,
  }),
  read: (id) => ({ args: ['find-generic-password', '-s', 'berth', '-a', id, '-w'], input: '' }),
  remove: (id) => ({ args: ['delete-generic-password', '-s', 'berth', '-a', id], input: '' }),
};

const TOOLS: Partial<Readonly<Record<NodeJS.Platform, KeyringTool>>> = {
  linux: SECRET_TOOL,
  freebsd: SECRET_TOOL,
  openbsd: SECRET_TOOL,
  darwin: SECURITY,
};

export function toolOf(platform: NodeJS.Platform): KeyringTool {
  const tool = TOOLS[platform];
  if (tool !== undefined) return tool;
  throw usageError(`berth knows no keyring of ${platform}.`, 'Sign in without it: berth login --no-keyring');
}
