import { TOOLS_COMPLETE, TOOLS_FOLDER } from '../terminals/tmux/tmux-volume-scripts.ts';

/** `perl_e PROGRAM ARGUMENT...`: the installation's perl, else the image's. Exits with 111 without either. */
const PERL = `
perl_e() {
  if [ -x ${TOOLS_FOLDER}/perl ] && [ -e ${TOOLS_FOLDER}/${TOOLS_COMPLETE} ]; then
    exec ${TOOLS_FOLDER}/ld.so --library-path ${TOOLS_FOLDER}/lib ${TOOLS_FOLDER}/perl -I${TOOLS_FOLDER}/perl5 -e "$@"
  fi
  command -v perl >/dev/null || { echo 'forwarding needs perl in the image' >&2; exit 111; }
  exec perl -e "$@"
}
`;

/** `ADDRESS PROGRAM` */
export const RUN_RELAY = `${PERL}
perl_e "$2" "$1"
`;

/**
 * \`pump WAY...\` carries bytes from one handle to another until all ways have ended, in all directions at the same
 * time. The end of one is passed on alone. A framed way writes lengths, the last 0, because an engine's stream cannot
 * end one direction alone.
 */
const PUMP = `
use strict; use IO::Socket::INET; use IO::Socket::UNIX; use IO::Select; use Errno qw(EAGAIN EINTR ECONNREFUSED);
$SIG{PIPE} = "IGNORE";
sub is_later { $! == EAGAIN || $! == EINTR }
sub pump {
  for my $way (@_) { binmode($_), $_->blocking(0) for $way->{from}, $way->{to} }
  while (my @open = grep { !$_->{done} } @_) {
    my ($r, $w) = (IO::Select->new, IO::Select->new);
    length $_->{buffer} ? $w->add($_->{to}) : $r->add($_->{from}) for @open;
    my ($readable) = IO::Select->select($r, $w, undef);
    for my $way (@open) {
      my ($from, $into) = ($way->{from}, $way->{to});
      if (!length $way->{buffer} && grep { $_ == $from } @{$readable || []}) {
        my $n = sysread($from, my $data, 65536);
        next if !defined $n && is_later();
        $way->{ended} = 1 unless $n;
        $way->{buffer} = ($way->{framed} ? pack("N", $n || 0) : "") . ($n ? $data : "");
      }
      if (length $way->{buffer}) {
        my $n = syswrite($into, $way->{buffer});
        if (defined $n) { substr($way->{buffer}, 0, $n, "") }
        elsif (!is_later()) { exit 0 if $way->{framed}; $way->{buffer} = ""; $way->{ended} = 1 }
      }
      next unless $way->{ended} && !length $way->{buffer};
      shutdown($into, 1) unless $way->{framed};
      $way->{done} = 1;
    }
  }
}
`;

/**
 * `PORT|PATH`: stdin and stdout to a TCP port of the loopback or to a UNIX socket, with perl-base alone.
 * `IO::Socket::IP` is not in it; without that only IPv4 is tried. The first frame says that it is connected.
 */
export const CONNECT_RELAY = String.raw`${PUMP}
my ($to) = @ARGV; my $s;
if ($to =~ m{^/}) { $s = IO::Socket::UNIX->new(Peer => $to) }
else {
  $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $to, Timeout => 10)
    || eval { require IO::Socket::IP; IO::Socket::IP->new(PeerHost => "::1", PeerPort => $to, Timeout => 10) }
}
unless ($s) { print STDERR "$!\n"; exit 111 }
pump({ from => \*STDIN, to => $s, buffer => "" },
  { from => $s, to => \*STDOUT, buffer => pack("N", 1) . "+", framed => 1 });
`;

/**
 * `PORT|PATH|private`: listens at a port of the loopback (0: a free one), at a UNIX socket, or at one in a folder of
 * its own. Prints `listening ADDRESS`, then `arrived PATH` for each connection: the next to connect to that socket gets
 * it. Reads `stop`, by which it accepts no more, and `refuse PATH`. Its input's end ends everything, also after a
 * killed service, and removes its sockets. One that was killed itself leaves them to the next.
 */
export const LISTEN_RELAY = String.raw`${PUMP}
umask 077;
my ($at) = @ARGV;
mkdir "/run";
my ($root) = grep { defined && -d && -w } "/run", $ENV{XDG_RUNTIME_DIR}, "/tmp";
sub names_in { opendir(my $d, $_[0]) or return; grep { !/^\.\.?\z/ } readdir $d }
for my $name (names_in($root)) {
  next unless $name =~ /^berth-ssh\.$<\.(\d+)\z/ && !-l "$root/$name" && -o _ && ($1 == $$ || !kill 0, $1);
  unlink map { "$root/$name/$_" } names_in("$root/$name");
  rmdir "$root/$name";
}
my $folder = "$root/berth-ssh.$<.$$";
sub at_path {
  my ($path) = @_;
  unlink $path if -S $path && !IO::Socket::UNIX->new(Peer => $path) && $! == ECONNREFUSED;
  IO::Socket::UNIX->new(Local => $path, Listen => 64)
}
my $path = $at eq "private" ? "$folder/socket" : $at =~ m{^/} ? $at : undef;
my $has_folder = mkdir $folder, 0700;
umask 0177;
my $listener = $has_folder && (defined $path ? at_path($path)
  : IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => $at, Listen => 64, ReuseAddr => 1));
unless ($listener) { print STDERR "$!\n"; rmdir $folder; exit 111 }
$listener->blocking(0);
my $inode = defined $path ? (stat $path)[1] : 0;
my ($over, $count, $words, %gate) = (0, 0, "");
sub stop {
  return unless $listener;
  unlink $path if defined $path && ((stat $path)[1] || 0) == $inode;
  close $listener; undef $listener
}
sub report { syswrite(STDOUT, "$_[0]\n") || ($over = 1) }
sub serve {
  my ($from, $gate, $at) = @_;
  $SIG{$_} = "DEFAULT" for qw(TERM HUP INT CHLD);
  close $listener if $listener;
  open STDIN, "<", "/dev/null"; open STDOUT, ">", "/dev/null"; open STDERR, ">", "/dev/null";
  IO::Select->new($gate)->can_read(30) or exit;
  my $to = $gate->accept or exit;
  close $gate; unlink $at;
  pump({ from => $from, to => $to, buffer => "" }, { from => $to, to => $from, buffer => "" });
  exit
}
sub arrive {
  my $from = $listener->accept or return;
  return if keys %gate >= 64;
  my $at = "$folder/" . ++$count;
  my $gate = at_path($at) or return;
  my $pid = fork;
  return unless defined $pid;
  serve($from, $gate, $at) unless $pid;
  $gate{$pid} = $at;
  report("arrived $at")
}
$SIG{$_} = sub { $over = 1 } for qw(TERM HUP INT);
$SIG{CHLD} = sub {};
report("listening " . (defined $path ? $path : $listener->sockport));
until ($over) {
  my @ready = IO::Select->new(\*STDIN, $listener || ())->can_read(5);
  while ((my $pid = waitpid(-1, 1)) > 0) { unlink delete $gate{$pid} }
  last unless $listener || %gate;
  for (@ready) {
    if ($listener && $_ == $listener) { arrive(); next }
    sysread(STDIN, $words, 4096, length $words) or $over = 1;
    while ($words =~ s/^(\w+) ?(.*)\n//) {
      if ($1 eq "stop") { stop(); next }
      my $refused = $2;
      kill "TERM", grep { $gate{$_} eq $refused } keys %gate
    }
  }
}
kill "TERM", keys %gate;
stop();
unlink values %gate;
rmdir $folder;
`;
