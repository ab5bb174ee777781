/** Programs for the perl of Debian's base: they call the kernel themselves, on x86-64 and 64-bit ARM. */
export const CALLS = `
use strict; use Socket; use IO::Handle; use POSIX ();
my $machine = (POSIX::uname())[4] eq 'x86_64' ? 0 : 1;
my %call = (sendmsg => [46, 211], inotify_init1 => [294, 26], fanotify_init => [300, 262], add_key => [248, 217],
  keyctl => [250, 219], perf_event_open => [298, 241], bpf => [321, 280], userfaultfd => [323, 282],
  io_uring_setup => [425, 425], unshare => [272, 97], syslog => [103, 116], timer_create => [222, 107],
  mq_open => [240, 180], mq_unlink => [241, 181], mlock => [149, 228], io_setup => [206, 0],
  epoll_create1 => [291, 20], epoll_ctl => [233, 21], shmget => [29, 194]);
sub kernel { my $name = shift; return syscall($call{$name}[$machine], @_) }
$| = 1;
`;

const SEND = `
sub send_over { my ($socket, @fds) = @_;
  my $byte = "x"; my $vector = pack("P Q", $byte, 1); my $length = 16 + 4 * @fds;
  my $rights = pack("Q l l l*", $length, 1, 1, @fds) . "\\0" x 8;
  my $head = pack("Q L x4 P Q P Q l x4", 0, 0, $vector, 1, $rights, $length, 0);
  return kernel('sendmsg', fileno($socket), $head, 64) >= 0 }
`;

/**
 * Puts descriptors in flight until the kernel refuses, or ARGV[0] messages of 253 are sent, and keeps them there. With ARGV[1] the
 * socket that holds them is in flight itself, so that no process has it. Prints how many are in flight.
 */
export const DESCRIPTORS_IN_FLIGHT = `${CALLS}${SEND}
my ($messages, $hidden) = @ARGV;
open(my $null, '<', '/dev/null');
socketpair(my $from, my $to, AF_UNIX, SOCK_STREAM, 0) or die;
my ($cover, $keep);
if ($hidden) { socketpair($cover, $keep, AF_UNIX, SOCK_STREAM, 0) or die; send_over($cover, fileno($to)) or die; close $to }
my $sent = 0;
for (1..$messages) { send_over($from, (fileno($null)) x 253) or last; $sent += 253 }
close $from if $hidden;
print "taken $sent\\n";
sleep 3600;
`;

/** Takes inotify instances in ARGV[0] processes, each as many as it gets, and keeps them. Prints how many there are in all. */
export const INOTIFY_INSTANCES = `${CALLS}
my $taken = 0;
for (1..$ARGV[0]) {
  pipe(my $in, my $out) or die;
  if (!fork) { close $in; my $own = 0; $own += 1 while kernel('inotify_init1', 0) >= 0; print $out "$own\\n"; close $out; sleep 3600 }
  close $out; $taken += <$in>;
}
print "taken $taken\\n";
sleep 3600;
`;

/** Prints whether another inotify instance can be had. */
export const ONE_INOTIFY = `${CALLS} print kernel('inotify_init1', 0) >= 0 ? "one more\\n" : "none: $!\\n";`;

/**
 * Takes a message queue of the usual size as each of ARGV[0] users, and keeps it. With ARGV[1] it has no name any more. Prints how many
 * there are.
 */
export const MESSAGE_QUEUES = `${CALLS}
my ($users, $nameless) = @ARGV; my $taken = 0;
for my $user (1..$users) {
  pipe(my $in, my $out) or die;
  if (!fork) {
    close $in; POSIX::setuid($user); my $name = "berth$user";
    print $out kernel('mq_open', $name, 0102, 0600, 0) >= 0 ? "1\\n" : "0\\n"; close $out;
    kernel('mq_unlink', $name) if $nameless;
    sleep 3600;
  }
  close $out; $taken += <$in>;
}
print "taken $taken\\n";
sleep 3600;
`;
