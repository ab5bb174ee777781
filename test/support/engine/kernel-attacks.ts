/** Perl programs for Debian's base that call the kernel directly, on x86-64 and 64-bit ARM. */
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
 * Puts descriptors in flight until the kernel refuses, or ARGV[0] messages of 253 are sent, and keeps them there. With
 * ARGV[1] their socket is in flight itself, so no process has it; that waits for what an earlier run left in flight. Prints
 * the number in flight.
 */
export const DESCRIPTORS_IN_FLIGHT = `${CALLS}${SEND}
my ($messages, $hidden) = @ARGV;
open(my $null, '<', '/dev/null');
socketpair(my $from, my $to, AF_UNIX, SOCK_STREAM, 0) or die;
my ($cover, $keep);
if ($hidden) { socketpair($cover, $keep, AF_UNIX, SOCK_STREAM, 0) or die; select(undef, undef, undef, 0.05) until send_over($cover, fileno($to)); close $to }
my $sent = 0;
for (1..$messages) { send_over($from, (fileno($null)) x 253) or last; $sent += 253 }
close $from if $hidden;
print "taken $sent\\n";
sleep 3600;
`;

/** Takes inotify instances in ARGV[0] processes, as many as each gets, and keeps them. Prints the total. */
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

/** Prints whether another inotify instance is available. */
export const ONE_INOTIFY = `${CALLS} print kernel('inotify_init1', 0) >= 0 ? "one more\\n" : "none: $!\\n";`;

/**
 * Creates a message queue of the usual size as each of ARGV[0] users, and keeps it, with ARGV[1] unlinked. Prints the
 * number.
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

/** Tries every limit shared through the kernel, from inside a container. Prints a line `name: result` for each. */
export const SURVEY = `${CALLS}
sub report { my ($name, $result) = @_; print "$name: $result\\n" }
sub once { my ($name, @rest) = @_; report($name, kernel($name, @rest) >= 0 ? "allowed" : "refused") }
sub most { my ($name, $tries, $do) = @_; my $n = 0; while ($n < $tries && $do->()) { $n += 1 } report($name, $n) }
sub apart { my ($do) = @_; my $pid = fork; if (!$pid) { $do->(); POSIX::_exit(0) } waitpid($pid, 0) }
my (@open, $id);
once('add_key', "user", "berth", "x", 1, -2);
once('keyctl', 0, -3, 1);
once('fanotify_init', 0, 0);
once('perf_event_open', "\\0" x 128, 0, -1, -1, 0);
once('bpf', 0, "\\0" x 128, 128);
once('userfaultfd', 0);
once('io_uring_setup', 4, my $ring = "\\0" x 120);
once('unshare', 0x10000000);
once('syslog', 3, my $text = "\\0" x 4096, 4096);
for my $name ('fs/inotify/max_user_instances', 'user/max_inotify_instances', 'kernel/keys/maxkeys', 'kernel/pty/max') {
  report("write $name", open(my $file, '>', "/proc/sys/$name") ? "allowed" : "refused") }
report("device $_", -e "/dev/$_" ? "there" : "absent") for 'loop-control', 'kmsg', 'mem';
apart(sub { most('inotify instances of a user', 3000, sub { kernel('inotify_init1', 0) >= 0 }) });
apart(sub { most('timers of a user', 10000, sub { my $t = "\\0" x 8; kernel('timer_create', 1, 0, $t) >= 0 }) });
apart(sub { most('message queues of a user', 20, sub { kernel('mq_open', "berth" . $id++, 0102, 0600, 0) >= 0 }) });
apart(sub { my $large = "x" x (16 * 1024 * 1024); my $from = unpack("Q", pack("P", $large));
  report('lock 16 MiB', kernel('mlock', $from, length $large) >= 0 ? "allowed" : "refused") });
apart(sub { most('open files of a process', 100000, sub { open(my $f, '<', '/dev/null') or return 0; push @open, $f }) });
apart(sub { most('terminals', 300, sub { open(my $f, '+<', '/dev/ptmx') or return 0; push @open, $f }) });
apart(sub { my @sizes; most('pipes', 400, sub { pipe(my $in, my $out) or return 0; push @open, $in, $out;
    push @sizes, fcntl($in, 1032, 0); 1 }); report('room in the last pipe', $sizes[-1]) });
apart(sub { most('requests of io_setup, in thousands', 8, sub { my $c = "\\0" x 8; kernel('io_setup', 1000, $c) >= 0 }) });
apart(sub { my $epoll = kernel('epoll_create1', 0); my $event = $machine ? pack("L x4 Q", 1, 0) : pack("L Q", 1, 0);
  most('epoll watches', 400, sub { pipe(my $in, my $out) or return 0; push @open, $in, $out;
    kernel('epoll_ctl', $epoll, 1, fileno($in), $event) >= 0 }) });
apart(sub { most('System V segments', 100, sub { kernel('shmget', 0, 4096, 01600) >= 0 }) });
apart(sub { my ($base) = map { /^\\w+\\t(\\w+)\\t00000000/ && $1 ne '00000000' ? unpack('N', pack('V', hex $1)) : () } do { open(my $f, '<', '/proc/net/route'); <$f> };
  for my $n (300..1500) { socket($open[$n / 100], AF_INET, SOCK_DGRAM, 0) if !$open[$n / 100];
    send($open[$n / 100], "x", 0, sockaddr_in(9, pack('N', $base + $n))) }
  open(my $arp, '<', '/proc/net/arp'); my @lines = <$arp>; report('neighbours', scalar @lines) });
apart(sub { my $memory = sub { open(my $f, '<', '/proc/net/sockstat'); join('', <$f>) =~ /TCP:.* mem (\\d+)/; $1 }; my $before = $memory->();
  socket(my $server, AF_INET, SOCK_STREAM, 0); bind($server, sockaddr_in(0, inet_aton('127.0.0.1'))); listen($server, 20);
  for (1..10) { socket(my $c, AF_INET, SOCK_STREAM, 0); connect($c, getsockname($server)) or next; push @open, $c;
    $c->blocking(0); 1 while defined syswrite($c, "x" x 65536) }
  report('pages of unread TCP', $memory->() - $before) });
apart(sub { most('processes', 1000, sub { my $pid = fork; return 0 unless defined $pid; if (!$pid) { sleep 60; POSIX::_exit(0) }
    push @open, $pid; 1 }); kill 9, @open; waitpid($_, 0) for @open });
open(my $random, '<', '/dev/random'); report('entropy', sysread($random, my $bytes, 65536));
`;
