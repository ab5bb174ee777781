import { execFile } from 'node:child_process';
import { chown, cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { SetupFault } from '../identity/credential.ts';
import { type UnitOptions, unitText } from './unit.ts';

const NAME = 'berth-agent.service';
const run = promisify(execFile);

/** Where an installation writes its files. */
export type InstallPaths = {
  readonly unit: string;
  readonly token: string;
  readonly state: string;
  /** For the agent itself, when it was downloaded. */
  readonly program: string;
};

/** A system installation, or one of this user's own. */
export function installPaths(isSystem: boolean, env: NodeJS.ProcessEnv): InstallPaths {
  const config = env['XDG_CONFIG_HOME'] ?? path.join(homedir(), '.config');
  const state = env['XDG_STATE_HOME'] ?? path.join(homedir(), '.local', 'state');
  const data = env['XDG_DATA_HOME'] ?? path.join(homedir(), '.local', 'share');
  return isSystem
    ? {
        unit: `/etc/systemd/system/${NAME}`,
        token: '/etc/berth-agent/token',
        state: '/var/lib/berth-agent',
        program: '/opt/berth-agent',
      }
    : {
        unit: path.join(config, 'systemd', 'user', NAME),
        token: path.join(config, 'berth-agent', 'token'),
        state: path.join(state, 'berth-agent'),
        program: path.join(data, 'berth-agent'),
      };
}

/** The file of a downloaded agent, whose folder has all that it needs. */
const DOWNLOADED = 'agent.mjs';

/** The file that a unit starts: a downloaded agent is copied to where it stays, one of a checkout is there. */
export async function stayingProgram(
  file: string,
  { program }: InstallPaths,
  isCopied = true,
): Promise<string> {
  const folder = path.dirname(path.resolve(file));
  if (path.basename(file) !== DOWNLOADED || folder === program) return path.resolve(file);
  if (isCopied) {
    await rm(program, { recursive: true, force: true });
    await cp(folder, program, { recursive: true });
  }
  return path.join(program, DOWNLOADED);
}

/** Writes a token, readable by this user alone. */
export async function keepToken(file: string, token: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  await rm(file, { force: true });
  await writeFile(file, `${token}\n`, { mode: 0o600, flag: 'wx' });
}

/** Throws `SetupFault` unless systemd answers, before a code is spent on an installation that cannot succeed. */
export async function checkSystemd(isSystem: boolean): Promise<void> {
  await systemctl(isSystem, 'show', '--property=Version').catch((error: Error) => {
    const hint = isSystem
      ? 'Without systemd run `enrol`, and then the agent in the foreground.'
      : 'Sign in as this user itself, not by su, or run `loginctl enable-linger` first. Without systemd run `enrol`, and then the agent in the foreground.';
    throw new SetupFault(`${error.message}. ${hint}`);
  });
}

/** Writes the unit and starts it. Repeatable. Throws `SetupFault`. */
export async function startUnit(paths: InstallPaths, options: UnitOptions): Promise<void> {
  await mkdir(path.dirname(paths.unit), { recursive: true });
  await writeFile(paths.unit, unitText(options), { mode: 0o644 });
  const isSystem = options.user !== null;
  await systemctl(isSystem, 'daemon-reload');
  await systemctl(isSystem, 'enable', NAME);
  await systemctl(isSystem, 'restart', NAME);
}

/** Stops the unit and removes it, the token, the identity and a copied program. Repeatable. */
export async function removeUnit(paths: InstallPaths, isSystem: boolean): Promise<void> {
  await systemctl(isSystem, 'disable', '--now', NAME).catch(() => {});
  await rm(paths.unit, { force: true });
  await systemctl(isSystem, 'daemon-reload').catch(() => {});
  await rm(path.dirname(paths.token), { recursive: true, force: true });
  await rm(paths.state, { recursive: true, force: true });
  await rm(paths.program, { recursive: true, force: true });
}

/** Gives a system unit's state to the user who runs it. */
export async function giveTo(user: string, folder: string, files: readonly string[]): Promise<void> {
  const [uid, gid] = await Promise.all(['-u', '-g'].map((which) => idOf(which, user)));
  for (const file of [folder, ...files.map((name) => path.join(folder, name))])
    await chown(file, uid as number, gid as number);
}

async function idOf(which: string, user: string): Promise<number> {
  const { stdout } = await run('id', [which, '--', user]).catch(() => {
    throw new SetupFault(`there is no user ${user} on this machine`);
  });
  return Number(stdout);
}

async function systemctl(isSystem: boolean, ...args: readonly string[]): Promise<void> {
  await run('systemctl', [...(isSystem ? [] : ['--user']), ...args]).catch(
    (error: Error & { stderr?: string }) => {
      throw new SetupFault(`systemctl ${args[0]} failed: ${(error.stderr || error.message).trim()}`);
    },
  );
}
