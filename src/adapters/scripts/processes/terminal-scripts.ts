import { END_BY_MARK } from '../exec/process-scripts.ts';
import { FOLDER, TOOLS, TOOLS_PATH } from './common-scripts.ts';

/** The same type as that of the page's terminals. */
const TERMINAL_TYPE = 'xterm-256color';

/**
 * The program of a process with a terminal, with the arguments of the supervisor. It becomes the program itself, so
 * that its pid, signals and exit code are the program's. A relay in a session of its own, without the mark, copies
 * between the terminal and the pipes until the program has ended: the kernel ends a program whose terminal has no other
 * side. The end of the input is sent as Ctrl-D, twice because the first only ends a begun line.
 *
 * It has no single quotes, since it is a word of a shell. The numbers are Linux's TIOCSPTLCK, TIOCGPTN, TIOCSWINSZ and
 * TIOCSCTTY.
 */
const BECOME_PROGRAM = String.raw`
use strict; use POSIX (); use IO::Handle; use Errno qw(EAGAIN EINTR);
my ($id, $takes, $size, @command) = @ARGV[3, 8, 10 .. $#ARGV];
my ($cols, $rows) = split /x/, $size;
my $program = $$;
sub fail { print STDERR "no terminal: $!\n"; POSIX::_exit(126) }
my $flags = POSIX::O_RDWR() | POSIX::O_NOCTTY();
sysopen(my $master, "/dev/ptmx", $flags) or fail();
ioctl($master, 0x40045431, my $locked = pack("i", 0)) or fail();
ioctl($master, 0x80045430, my $number = pack("i", 0)) or fail();
my $path = "/dev/pts/" . unpack("i", $number);
sysopen(my $slave, $path, $flags) or fail();
ioctl($slave, 0x5414, my $first = pack("S4", $rows, $cols, 0, 0)) or fail();
open(my $note, ">", "${FOLDER}/$id/tty.new") or fail();
print $note "$path\n"; close $note or fail();
rename "${FOLDER}/$id/tty.new", "${FOLDER}/$id/tty" or fail();

my $between = fork(); defined $between or fail();
if (!$between) {
  my $relay = fork(); defined $relay or POSIX::_exit(1);
  POSIX::_exit(0) if $relay;
  relay();
}
waitpid $between, 0;
$? == 0 or fail();
close $master;
POSIX::setsid(); ioctl($slave, 0x540E, 0) or fail();
POSIX::dup2(fileno $slave, $_) for 0 .. 2;
$ENV{BERTH_PROCESS} = $id;
$ENV{TERM} = "${TERMINAL_TYPE}" unless defined $ENV{TERM};
exec "/bin/sh", "-c", q{exec "$@"}, "sh", @command;
POSIX::_exit(127);

sub later { $! == EAGAIN || $! == EINTR }
sub pass_on {
  my ($data) = @_;
  while (length $data) {
    my $sent = syswrite STDOUT, $data;
    if (defined $sent) { substr($data, 0, $sent) = "" } else { later() or return }
  }
}
sub relay {
  POSIX::setsid(); close $slave; chdir "/";
  open STDERR, ">", "/dev/null";
  $SIG{$_} = "IGNORE" for qw(HUP INT QUIT TERM PIPE);
  $master->blocking(0);
  my ($input, $last, $open) = ("", "\n", $takes eq "yes");
  for (;;) {
    my ($readable, $writable) = ("", "");
    vec($readable, fileno $master, 1) = 1;
    vec($readable, 0, 1) = 1 if $open && !length $input;
    vec($writable, fileno $master, 1) = 1 if length $input;
    select($readable, $writable, undef, undef) >= 0 or next;
    if (vec $readable, fileno $master, 1) {
      my $count = sysread $master, my $data, 65536;
      if ($count) { pass_on($data) }
      elsif (defined $count || !later()) {
        kill 0, $program or POSIX::_exit(0);
        select undef, undef, undef, 0.05;
      }
    }
    if ($open && vec $readable, 0, 1) {
      my $count = sysread STDIN, $input, 4096;
      if ($count) { $last = substr $input, -1 }
      elsif (defined $count) { $open = 0; $input = "\004" x ($last eq "\n" ? 1 : 2) }
    }
    if (length $input && vec $writable, fileno $master, 1) {
      my $sent = syswrite $master, $input;
      substr($input, 0, $sent) = "" if $sent;
    }
  }
}
`;

/** For a subshell of the supervisor: becomes the program with a terminal. */
export const RUN_IN_TERMINAL = `exec "$(PATH=${TOOLS_PATH}:$PATH; command -v perl)" -e '${BECOME_PROGRAM}' -- "$@"`;

const SET_SIZE = `open my $tty, "+<", shift or exit 1; ioctl $tty, 0x5414, my $size = pack("S4", @ARGV, 0, 0) or exit 1`;

/** `ID COLS ROWS`: prints `resized` when the program runs in a terminal. */
export const RESIZE = `${TOOLS}${END_BY_MARK}
cd "${FOLDER}/$1" 2>/dev/null || exit 0
tries=0
until [ -e tty ] || [ $tries -ge 40 ]; do sleep 0.05 || sleep 1; tries=$((tries + 1)); done
{ read -r program supervisor < state && read -r tty < tty; } 2>/dev/null || exit 0
[ -n "$(alive "$program")" ] && perl -e '${SET_SIZE}' "$tty" "$3" "$2" && echo resized
exit 0
`;
