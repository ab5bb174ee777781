import { existsSync } from 'node:fs';
import { type Log, lastLines, readText, run, which } from '../host/host-commands.ts';
import { throttled } from './engine-progress.ts';

const REPORT_MS = 3000;

type Progress = (message: string) => void;

/** Programs by Debian's and Ubuntu's package names. */
const ENGINE_PROGRAMS: Readonly<Record<string, string>> = {
  dockerd: 'docker.io',
  iptables: 'iptables',
  ip: 'iproute2',
  mount: 'util-linux',
};

/** The private engine's packages that this machine lacks. */
export async function missingEnginePackages(): Promise<readonly string[]> {
  const missing = await missingPackages(ENGINE_PROGRAMS);
  const confined = (await readText('/sys/module/apparmor/parameters/enabled'))?.startsWith('Y') === true;
  const parser = confined ? await missingPackages({ apparmor_parser: 'apparmor' }) : [];
  const modules = existsSync('/proc/sys/net/bridge') ? [] : await missingPackages({ modprobe: 'kmod' });
  return [...missing, ...parser, ...modules];
}

export async function missingPackages(
  programs: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const found = await Promise.all(
    Object.entries(programs).map(async ([program, name]) => ((await which(program)) === null ? name : null)),
  );
  return found.filter((name) => name !== null);
}

export type InstallSettings = {
  readonly progress: Progress;
  readonly log: Log;
  /** Aborts the installation; the next one completes it. */
  readonly signal?: AbortSignal | undefined;
};

/**
 * Announces and installs distribution packages, as root, without starting their services: Berth runs its own. Throws
 * the end of the output on failure.
 */
export async function installPackages(names: readonly string[], settings: InstallSettings): Promise<void> {
  const { progress, log, signal } = settings;
  if ((await which('apt-get')) === null) throw new Error('apt-get is not available on this machine');
  progress(`installing ${names.join(', ')} from the packages of this distribution`);
  const update = await aptGet(['update'], settings, 180);
  signal?.throwIfAborted();
  if (update.code !== 0) log.warn(`apt-get update: ${lastLines(update.stderr, 3)}`);
  const restore = await withoutServices();
  try {
    await completeInterrupted(settings);
    const install = await aptGet(['install', '-y', '--no-install-recommends', ...names], settings, 900);
    signal?.throwIfAborted();
    if (install.code !== 0)
      throw new Error(`apt-get install: ${lastLines(install.stderr || install.stdout, 3)}`);
  } finally {
    await restore();
  }
}

/** apt-get refuses to work after an interrupted installation. */
async function completeInterrupted({ signal, log }: InstallSettings): Promise<void> {
  const { code, stderr } = await run('dpkg', ['--configure', '-a'], {
    timeoutSeconds: 300,
    env: QUIET,
    signal,
  });
  if (code !== 0) log.warn(`dpkg --configure -a: ${lastLines(stderr, 3)}`);
}

const QUIET = { DEBIAN_FRONTEND: 'noninteractive', NEEDRESTART_MODE: 'l' };

function aptGet(
  args: readonly string[],
  { progress, signal }: InstallSettings,
  timeoutSeconds: number,
): ReturnType<typeof run> {
  const options = ['-q', '-o', 'DPkg::Lock::Timeout=120', '-o', 'Dpkg::Use-Pty=0'];
  const report = throttled(REPORT_MS, (line: string) => progress(line.slice(0, 80)));
  const onLine = (line: string): void => {
    if (/^(Get:|Unpacking|Setting up|Need to get)/.test(line)) report(line);
  };
  return run('apt-get', [...options, ...args], { timeoutSeconds, env: QUIET, onLine, signal });
}

const UNITS = ['docker.service', 'docker.socket', 'containerd.service', 'lxcfs.service'];

/** Keeps systemd from starting what is installed, now and at boot; returns the undo function. */
async function withoutServices(): Promise<() => Promise<void>> {
  if (!existsSync('/run/systemd/system')) return async () => {};
  const known = await Promise.all(
    UNITS.map(async (unit) => (await run('systemctl', ['cat', unit])).code === 0),
  );
  const units = UNITS.filter((_, index) => known[index] !== true);
  if (units.length === 0) return async () => {};
  await run('systemctl', ['mask', '--runtime', ...units]);
  return async () => {
    await run('systemctl', ['unmask', '--runtime', ...units]);
    await run('systemctl', ['disable', ...units]);
  };
}
