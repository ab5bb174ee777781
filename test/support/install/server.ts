import { spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Test } from 'tap';
import { installPackages, missingPackages } from '../../../src/adapters/docker/engine/host-packages.ts';
import { mountsBelow, run, runOrThrow } from '../../../src/adapters/docker/host/host-commands.ts';
import { waitFor } from '../patience.ts';

/** A bare Debian with its own systemd, processes, mounts and network; it shares this machine's kernel. */
export type Server = {
  /** Its file system, as a folder of this machine. */
  readonly root: string;
  /** Its address, for this machine. */
  readonly address: string;
  /** Runs a shell script there, as root; throws its output on failure. */
  readonly sh: (script: string) => Promise<string>;
};

/** A build of the image installs and compiles everything. */
const WORK_SECONDS = 2400;

const PACKAGES = ['systemd', 'systemd-sysv', 'dbus', 'ca-certificates', 'iproute2', 'procps'];
const CERTIFICATES = 'etc/ssl/certs/ca-certificates.crt';
const HIERARCHIES = ['cpu', 'cpuacct', 'cpuset', 'memory', 'devices', 'freezer', 'blkio', 'pids'];

/** Boots the file system `$1`; `$2` are the hierarchies of control groups, version 1. */
const BOOT = `set -e
root=$1 groups=$root/sys/fs/cgroup
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t tmpfs tmpfs "$root/run"
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
  mount -t cgroup2 cgroup2 "$groups"
else
  mount -t tmpfs -o mode=755 tmpfs "$groups"
  for each in $2; do mkdir "$groups/$each"; mount -t cgroup -o "$each" cgroup "$groups/$each"; done
  mkdir "$groups/systemd"
  mount -t cgroup -o none,name=systemd cgroup "$groups/systemd"
fi
mount --rbind /dev "$root/dev"
cd "$root"
pivot_root . mnt
umount -l /mnt
mount --make-rshared /
exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd`;

const FLAGS = ['--fork', '--pid', '--mount', '--uts', '--ipc', '--net', '--cgroup', '--kill-child'];

/** Debian's 12 and 13. */
export type Release = 'bookworm' | 'trixie';

/** Makes the Debian with these packages from this machine's sources, and boots it. It ends with `t`, without a trace. */
export async function aServer(
  t: Test,
  folder: string,
  packages: readonly string[] = [],
  release: Release = 'bookworm',
): Promise<Server> {
  const root = path.join(folder, 'server');
  const absent = await missingPackages({ mmdebstrap: 'mmdebstrap' });
  if (absent.length > 0) await installPackages(absent, { progress: () => {}, log: console });
  const include = `--include=${[...PACKAGES, ...packages].join(',')}`;
  // Nothing here need survive a power cut, and a busy disk takes minutes to write it down.
  const options = ['--quiet', '--variant=apt', '--dpkgopt=force-unsafe-io', include];
  await runOrThrow('mmdebstrap', [...options, release, root], { timeoutSeconds: WORK_SECONDS });
  cpSync('/etc/resolv.conf', path.join(root, 'etc/resolv.conf'), { dereference: true });
  if (existsSync(`/${CERTIFICATES}`)) cpSync(`/${CERTIFICATES}`, path.join(root, CERTIFICATES));
  // They would change the device files, which are this machine's.
  for (const name of ['setup-dev', 'setup-dev-early'])
    rmSync(path.join(root, `lib/systemd/system/systemd-tmpfiles-${name}.service`), { force: true });
  const child = spawn('unshare', [...FLAGS, 'sh', '-c', BOOT, 'boot', root, HIERARCHIES.join(' ')], {
    stdio: 'ignore',
  });
  const init = await initOf(child.pid ?? 0);
  t.teardown(async () => {
    process.kill(init, 'SIGKILL');
    await waitFor(async () => !existsSync(`/proc/${init}`) && (await mountsBelow(folder)).length === 0);
    await runOrThrow('rm', ['-rf', '--one-file-system', root], { timeoutSeconds: 300 });
  });
  const sh = async (script: string): Promise<string> => {
    const command = ['-t', `${init}`, '-a', 'sh', '-ec', script];
    const { code, stdout, stderr } = await run('nsenter', command, { timeoutSeconds: WORK_SECONDS });
    if (code !== 0) throw new Error(`${endOf(stdout + stderr)}\nended this with ${code}:\n${script}`);
    return stdout.trim();
  };
  await waitFor(
    () => sh('systemctl is-system-running || true').then((state) => /running|degraded/.test(state)),
    {
      everyMs: 200,
      patienceMs: 120_000,
      what: 'systemd',
    },
  );
  return { root, sh, address: await connect(t, init) };
}

/** The end of a program's output, which says why it failed; reports have room for little. */
const endOf = (output: string): string => output.trimEnd().split('\n').slice(-8).join('\n');

/** The process that is number 1 there: the child of unshare. */
async function initOf(unshare: number): Promise<number> {
  const children = `/proc/${unshare}/task/${unshare}/children`;
  const first = (): number => Number(readFileSync(children, 'utf8').split(' ')[0]);
  await waitFor(() => first() > 0, { what: 'a first process' });
  await waitFor(() => readFileSync(`/proc/${first()}/comm`, 'utf8').trim() === 'systemd', {
    what: 'systemd',
  });
  return first();
}

/** A line to this machine and, through it, to the package sources. Returns the address there. */
async function connect(t: Test, init: number): Promise<string> {
  const link = `bs${randomBytes(3).toString('hex')}`;
  const block = `172.31.${randomInt(256)}.${randomInt(64) * 4}`;
  const [here, there] = [1, 2].map((n) => block.replace(/\d+$/, (last) => `${Number(last) + n}`));
  // The engine of a run of tests has turned it on, too.
  writeFileSync('/proc/sys/net/ipv4/ip_forward', '1');
  const rules = [
    ['FORWARD', '-i', link, '-j', 'ACCEPT'],
    ['FORWARD', '-o', link, '-j', 'ACCEPT'],
    ['POSTROUTING', '-t', 'nat', '-s', `${there}`, '!', '-o', link, '-j', 'MASQUERADE'],
  ];
  t.teardown(async () => {
    for (const rule of rules) await run('iptables', ['-w', '-D', ...rule]);
    await run('ip', ['link', 'delete', link]);
  });
  await runOrThrow('ip', ['link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', `${init}`]);
  await runOrThrow('ip', ['address', 'add', `${here}/30`, 'dev', link]);
  await runOrThrow('ip', ['link', 'set', link, 'up']);
  for (const rule of rules) await runOrThrow('iptables', ['-w', '-I', ...rule]);
  const script = `ip address add ${there}/30 dev eth0; ip link set eth0 up; ip link set lo up; ip route add default via ${here}`;
  await runOrThrow('nsenter', ['-t', `${init}`, '-n', 'sh', '-ec', script]);
  return `${there}`;
}

const SOURCES = [
  '.dockerignore',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
];

/** This checkout's sources at `/opt/berth` there, as a clone has them; with `built` also its build and dependencies. */
export async function copyCheckout({ root }: Server, { built }: { built: boolean }): Promise<void> {
  const target = path.join(root, 'opt/berth');
  mkdirSync(target, { recursive: true });
  const folders = ['db', 'docs', 'scripts', 'src', 'test', 'web', ...(built ? ['dist', 'node_modules'] : [])];
  await runOrThrow('cp', ['-a', ...SOURCES, ...folders, target], { timeoutSeconds: 300 });
}

/** Puts a file there. */
export function put({ root }: Server, file: string, text: string): void {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
}
