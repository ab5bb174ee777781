import type { Server } from './server.ts';

/** What a private engine and the service change on a machine, in lines. */
const TRACES = `set +e
getent passwd | cut -d: -f1; getent group | cut -d: -f1; cat /etc/subuid /etc/subgid
ip -o link show | cut -d: -f2 | sed 's/@.*//'
cut -d' ' -f5 /proc/self/mountinfo | grep -v '^/proc/sys/fs/binfmt_misc'
ls -d /etc/berth /etc/systemd/system/* /var/lib/berth /var/cache/berth /run/berth* /tmp/berth* 2>/dev/null
ls /etc/systemd/system/*.wants
iptables-save 2>/dev/null | grep -i berth
ps -eo comm | grep -E 'node|postgres|dockerd|containerd' || true`;

/** The group of docker.io, and the units of e2fsprogs. */
const OF_PACKAGES = /^(docker|e2scrub_.*)$/;

export type Traces = ReadonlySet<string>;

export const tracesOf = async ({ sh }: Server): Promise<Traces> => new Set((await sh(TRACES)).split('\n'));

/** What has come to the machine since `before`, without what belongs to its packages. */
export const tracesSince = async (server: Server, before: Traces): Promise<readonly string[]> =>
  [...(await tracesOf(server))].filter((line) => !before.has(line) && !OF_PACKAGES.test(line));
