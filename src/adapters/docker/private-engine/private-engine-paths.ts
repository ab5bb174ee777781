import { join, resolve } from 'node:path';
import { shortHash } from '../network/subnet.ts';

/** The paths and names of one private engine, derived from the data folder alone, so that the next run finds it. */
export type Layout = {
  readonly hash: string;
  /** Persistent files, in the data folder. */
  readonly home: string;
  /** The image of the engine's file system. */
  readonly pool: string;
  /** The engine's data without a pool. */
  readonly storage: string;
  readonly log: string;
  /** The choice of the engine. */
  readonly record: string;
  /** Temporary files, in a short path: a unix socket's has at most 107 bytes. */
  readonly run: string;
  /** The pool, or a bind mount of `storage`, reachable for remapped users wherever the data is. */
  readonly dataRoot: string;
  readonly execRoot: string;
  readonly socket: string;
  readonly pidFile: string;
  readonly config: string;
  readonly owner: string;
  readonly bridge: string;
};

export function layoutOf(dataDir: string): Layout {
  const home = join(resolve(dataDir), 'engine');
  const hash = shortHash(home);
  const run = `/run/berth-${hash}`;
  return {
    hash,
    home,
    pool: join(home, 'pool.img'),
    storage: join(home, 'root'),
    log: join(home, 'dockerd.log'),
    record: join(home, 'engine.json'),
    run,
    dataRoot: join(run, 'root'),
    execRoot: join(run, 'exec'),
    socket: join(run, 'docker.sock'),
    pidFile: join(run, 'dockerd.pid'),
    config: join(run, 'daemon.json'),
    owner: join(run, 'owner'),
    bridge: `berth-${hash}`,
  };
}

/**
 * Arguments of dockerd. It leaves the packet filter alone, since another engine may run beside it: Berth sets its
 * network's rules itself. Containers survive a crash of dockerd.
 */
export const daemonArgs = (at: Layout, mtu: number, remap: boolean): readonly string[] => [
  `--data-root=${at.dataRoot}`,
  `--exec-root=${at.execRoot}`,
  `--host=unix://${at.socket}`,
  `--pidfile=${at.pidFile}`,
  `--containerd-namespace=berth-${at.hash}`,
  `--containerd-plugins-namespace=berth-${at.hash}-plugins`,
  `--config-file=${at.config}`,
  '--group=root',
  `--bridge=${at.bridge}`,
  `--mtu=${mtu}`,
  '--iptables=false',
  '--ip6tables=false',
  '--ip-forward=false',
  '--ip-masq=false',
  '--userland-proxy=false',
  '--live-restore',
  '--no-new-privileges',
  '--default-ulimit=core=0:0',
  '--log-driver=json-file',
  '--log-opt=max-size=10m',
  '--log-opt=max-file=2',
  '--log-level=warn',
  ...(remap ? ['--userns-remap=default'] : []),
];
