import { readdir, stat, statfs } from 'node:fs/promises';
import { run } from '../host/host-commands.ts';

/** The magic number of the message queue file system (statfs(2)). */
export const QUEUES = 0x19800202;
const SECONDS = 5;

/** Prints \`messages bytes\` of each queue: by name in the present IPC namespace, or by path. mq_getsetattr(2) */
const ATTRIBUTES = `
use POSIX ();
my ($open, $get) = { x86_64 => [240, 245], aarch64 => [180, 185] }->{(POSIX::uname())[4]}->@*;
for my $queue (@ARGV) {
  my $fd = $queue =~ m{^/} ? POSIX::open($queue, POSIX::O_RDONLY | POSIX::O_NONBLOCK) : syscall($open, $queue, POSIX::O_NONBLOCK, 0, 0);
  next if !defined $fd || $fd < 0;
  my $attributes = "\\0" x 64;
  print join(' ', (unpack('q3', $attributes))[1, 2]), "\\n" if syscall($get, $fd + 0, 0, $attributes) >= 0;
  POSIX::close($fd);
}
`;

/** Overhead of a queued message: its header, and its node in the queue's tree. */
const BYTES_OF_A_MESSAGE = 48 + 48;

/** The queues' use of the limit, from the output of ATTRIBUTES (mq_overview(7)). */
export const bytesOfQueues = (attributes: string): number =>
  attributes
    .split('\n')
    .map((line) => line.split(' ').map(Number))
    .reduce((sum, [messages = 0, bytes = 0]) => sum + messages * (bytes + BYTES_OF_A_MESSAGE), 0);

/** The names of a container's queues with their inodes. Only queues are read: a container can put anything there. */
export async function queueNames(pid: number): Promise<ReadonlyMap<string, number>> {
  const folder = `/proc/${pid}/root/dev/mqueue`;
  const [type, names] = await Promise.all([
    statfs(folder).then(
      (facts) => facts.type,
      () => null,
    ),
    readdir(folder).catch(() => []),
  ]);
  if (type !== QUEUES) return new Map();
  const inodes = names.map((name) =>
    stat(`${folder}/${name}`).then(
      ({ ino }) => ino,
      () => 0,
    ),
  );
  return new Map((await Promise.all(inodes)).map((inode, at) => [names[at] ?? '', inode]));
}

/**
 * The bytes of these queues in the container of a process. `open`: paths in /proc of unlinked ones. null when it cannot
 * be determined, as without perl.
 */
export async function queueBytes(
  pid: number,
  names: readonly string[],
  open: readonly string[],
): Promise<number | null> {
  if (names.length + open.length === 0) return 0;
  const program = ['perl', '-e', ATTRIBUTES, '--', ...names, ...open];
  const { code, stdout } = await run('nsenter', ['--ipc', '--target', String(pid), '--', ...program], {
    timeoutSeconds: SECONDS,
  });
  return code === 0 ? bytesOfQueues(stdout) : null;
}
