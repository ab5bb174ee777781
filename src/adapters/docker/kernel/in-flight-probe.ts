import { run } from '../host/host-commands.ts';

const SECONDS = 5;
const TOO_MANY = 3;

/**
 * Sends one descriptor as user ARGV[0], under the open file limit that it was started with: the kernel refuses when
 * more are in flight for this user (unix(7), ETOOMANYREFS). sendmsg(2) takes a message header, a one-byte buffer, and
 * the descriptor.
 */
const PROBE = `
use Socket; use POSIX ();
my $call = { x86_64 => 46, aarch64 => 211 }->{(POSIX::uname())[4]} or exit 2;
POSIX::setgid($ARGV[0]); POSIX::setuid($ARGV[0]); exit 2 if $< != $ARGV[0];
socketpair(my $from, my $to, AF_UNIX, SOCK_STREAM, 0) or exit 2;
my $byte = "x"; my $vector = pack("P Q", $byte, 1);
my $rights = pack("Q l l l x4", 20, SOL_SOCKET, 1, fileno($to));
my $head = pack("Q L x4 P Q P Q l x4", 0, 0, $vector, 1, $rights, 20, 0);
exit 0 if syscall($call, fileno($from), $head, 64) >= 0;
exit($! == POSIX::ETOOMANYREFS() ? ${TOO_MANY} : 2);
`;

/**
 * Whether more than `most` descriptors are in flight for a user of this machine, in any container, even hidden ones:
 * only the kernel knows. null when it cannot be determined, as without perl.
 */
export async function moreInFlight(userId: number, most: number): Promise<boolean | null> {
  // The kernel does not limit root.
  if (userId === 0) return null;
  const script = 'ulimit -n "$1" && exec perl -e "$2" "$3"';
  const { code } = await run('sh', ['-c', script, 'berth', String(most), PROBE, String(userId)], {
    timeoutSeconds: SECONDS,
  });
  return code === 0 ? false : code === TOO_MANY ? true : null;
}
