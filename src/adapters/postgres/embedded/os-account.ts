import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** The account of a PostgreSQL program, and the command prefix to use it. */
export type Account = {
  readonly uid: number;
  readonly command: (
    program: string,
    args: readonly string[],
  ) => { readonly file: string; readonly args: string[] };
};

// initdb needs a user with a name; the server runs under any number.
const NOBODY = 65534;
// Numbers used by neither Debian nor systemd.
const FREE = { first: 61_000, count: 184 };
const CAPABILITY_BITS = { dac_override: 1, dac_read_search: 2 };
type Capability = keyof typeof CAPABILITY_BITS;

/** The account for initdb: PostgreSQL refuses root, so root changes to a user with a name. */
export const accountForInitdb = (reaches: readonly string[]): Account => account(NOBODY, reaches);

/**
 * The server's account: as root the data's owner, else an unused number, derived from the path so that two databases on
 * one machine differ. `reaches`: the programs and folders it needs.
 */
export const accountForServer = async (data: string, reaches: readonly string[]): Promise<Account> =>
  account(currentOwner(data) ?? (await freeUid(data)), reaches);

function account(uid: number, reaches: readonly string[]): Account {
  if (process.getuid?.() !== 0) {
    return { uid: process.getuid?.() ?? uid, command: (file, args) => ({ file, args: [...args] }) };
  }
  const flags = privileges(uid, neededCapability(uid, reaches));
  return { uid, command: (program, args) => ({ file: 'setpriv', args: [...flags, '--', program, ...args] }) };
}

function privileges(uid: number, capability: Capability | null): string[] {
  const identity = ['--reuid', `${uid}`, '--regid', `${uid}`, '--clear-groups', '--no-new-privs'];
  if (capability === null) return [...identity, '--bounding-set', '-all'];
  // with no_setuid_fixup, access(2), which PostgreSQL calls on its own binary, includes the capability
  return [
    ...identity,
    ...['--securebits', '+no_setuid_fixup', '--bounding-set', `-all,+${capability}`],
    ...['--inh-caps', `+${capability}`, '--ambient-caps', `+${capability}`],
  ];
}

function currentOwner(data: string): number | null {
  const uid = statSync(data, { throwIfNoEntry: false })?.uid;
  return uid === undefined || uid === 0 || uid === NOBODY ? null : uid;
}

async function freeUid(directory: string): Promise<number> {
  const passwd = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const taken = new Set(passwd.split('\n').map((line) => Number(line.split(':')[2])));
  const start = createHash('sha256').update(directory).digest().readUInt32BE();
  for (let step = 0; step < FREE.count; step++) {
    const uid = FREE.first + ((start + step) % FREE.count);
    if (!taken.has(uid)) return uid;
  }
  throw new Error('no free user id for PostgreSQL: set DATABASE_URL instead');
}

/** Passing a closed folder (such as /root) needs a capability. */
function neededCapability(uid: number, reaches: readonly string[]): Capability | null {
  const blocked = reaches.flatMap((target) => blockedOnTheWay(uid, target));
  if (blocked.length === 0) return null;
  // Reading does not include executing a program that only its owner may execute.
  const readingIsEnough = blocked.every(({ isFolder }) => isFolder);
  const wanted: Capability[] = readingIsEnough ? ['dac_read_search', 'dac_override'] : ['dac_override'];
  const chosen = wanted.find(hasCapability);
  if (chosen) return chosen;
  throw new Error(
    `PostgreSQL cannot run as root, and an unprivileged user cannot enter ${blocked[0]?.path}: set ` +
      'BERTH_DATA_DIR to a folder that other users can enter (such as /var/lib/berth), or set DATABASE_URL',
  );
}

type Blocked = { readonly path: string; readonly isFolder: boolean };

function blockedOnTheWay(uid: number, target: string): Blocked[] {
  const parent = path.dirname(target);
  const above = parent === target ? [] : blockedOnTheWay(uid, parent);
  const found = statSync(target, { throwIfNoEntry: false });
  if (found === undefined) return above;
  const mayEnter = (found.mode & (found.uid === uid ? 0o100 : 0o001)) !== 0;
  return mayEnter ? above : [...above, { path: target, isFolder: found.isDirectory() }];
}

function hasCapability(capability: Capability): boolean {
  const permitted = /^CapPrm:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  return ((BigInt(`0x${permitted}`) >> BigInt(CAPABILITY_BITS[capability])) & 1n) === 1n;
}
