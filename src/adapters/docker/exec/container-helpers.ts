import type {
  ContainerCommands,
  ContainerHelpers,
  ControlledCommand,
  InnerConnection,
} from '../../../ports/containers/container-commands.ts';
import { RuntimeFailure } from '../../../ports/containers/container-runtime.ts';
import { TOOLS_FOLDER } from '../terminals/tmux-volume-scripts.ts';
import { inTime } from './in-time.ts';

/** More than the relay's two tries to connect take. */
const FIRST_FRAME_SECONDS = 30;

/** Runs the helpers by `sh` and `perl`, which every Debian and Ubuntu image has. */
export const containerHelpers = (commands: ContainerCommands): ContainerHelpers => ({
  serveSftp: (handle, stdin) =>
    commands.open(handle, { command: ['sh', '-c', SFTP_SERVER, 'berth'], stdin, timeoutSeconds: null }),

  async connect(handle, to, stdin) {
    const address = to.kind === 'port' ? String(to.port) : to.path;
    const command = ['sh', '-c', CONNECT, 'berth', address, RELAY];
    return await connected(await commands.open(handle, { command, stdin, timeoutSeconds: null }));
  },
});

/** null when nothing listens. */
async function connected(relay: ControlledCommand): Promise<InnerConnection | null> {
  const closed = Promise.withResolvers<void>();
  const frames = framesOf(relay, closed.resolve);
  const first = await inTime(frames.next(), FIRST_FRAME_SECONDS, relay.end);
  if (first.done) return null;
  // Frames that nobody reads do not end by themselves.
  const end = (): Promise<void> => relay.end().finally(closed.resolve);
  return { output: untilEnd(frames), closed: closed.promise, end };
}

/** Reads on after the last frame, until the other direction has ended too. */
async function* untilEnd(frames: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  for (let next = await frames.next(); !next.done; next = await frames.next()) {
    if (next.value.length > 0) yield next.value;
    else return void frames.next().catch(() => {});
  }
}

/** The user can replace `perl`: a length that the relay never sends ends it. */
async function* framesOf(
  { events, end: endRelay }: ControlledCommand,
  closed: () => void,
): AsyncGenerator<Buffer> {
  let left: Buffer = Buffer.alloc(0);
  try {
    for await (const event of events) {
      if (event.kind === 'exit') return;
      if (event.stream === 'stderr') continue;
      left = left.length === 0 ? event.data : Buffer.concat([left, event.data]);
      for (let end = frameEnd(left); end <= left.length; end = frameEnd(left)) {
        const frame = left.subarray(LENGTH_BYTES, end);
        left = left.subarray(end);
        yield frame;
      }
      if (left.length >= LENGTH_BYTES && left.readUInt32BE(0) > MAX_FRAME_BYTES) {
        void endRelay();
        throw new RuntimeFailure('a relay announced too long a frame');
      }
    }
  } finally {
    closed();
  }
}

const LENGTH_BYTES = 4;
/** What RELAY reads at a time. */
const MAX_FRAME_BYTES = 65_536;
const frameEnd = (bytes: Buffer): number =>
  bytes.length < LENGTH_BYTES ? Number.POSITIVE_INFINITY : LENGTH_BYTES + bytes.readUInt32BE(0);

/** The image's own server, else the one that the installation carries. */
const SFTP_SERVER = `
cd /workspace 2>/dev/null || cd /
for folder in /usr/lib/openssh /usr/lib/ssh /usr/libexec/openssh /usr/libexec; do
  [ -x "$folder/sftp-server" ] && exec "$folder/sftp-server"
done
if [ -x ${TOOLS_FOLDER}/sftp-server ]; then
  exec ${TOOLS_FOLDER}/ld.so --library-path ${TOOLS_FOLDER}/lib ${TOOLS_FOLDER}/sftp-server
fi
echo 'this container has no sftp-server' >&2
exit 127
`;

/** `PORT|PATH RELAY` */
const CONNECT = `
command -v perl >/dev/null || { echo 'forwarding needs perl in the image' >&2; exit 111; }
exec perl -e "$2" "$1"
`;

/**
 * stdin and stdout to a TCP port of the loopback or to a UNIX socket, both directions at the same time, with perl-base
 * alone. `IO::Socket::IP` is not in it; without that only IPv4 is tried. Output is framed by lengths, the last 0,
 * because an engine's stream cannot end one direction alone. The first frame says that it is connected.
 */
const RELAY = String.raw`
use strict; use IO::Socket::INET; use IO::Socket::UNIX; use IO::Select; use Errno qw(EAGAIN EINTR);
$SIG{PIPE} = "IGNORE";
my ($to) = @ARGV; my $s;
if ($to =~ m{^/}) { $s = IO::Socket::UNIX->new(Peer => $to) }
else {
  $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $to, Timeout => 10)
    || eval { require IO::Socket::IP; IO::Socket::IP->new(PeerHost => "::1", PeerPort => $to, Timeout => 10) }
}
unless ($s) { print STDERR "$!\n"; exit 111 }
binmode $_ for \*STDIN, \*STDOUT, $s;
$s->blocking(0); STDIN->blocking(0); STDOUT->blocking(0);
my $in = { from => \*STDIN, to => $s, buffer => "" };
my $out = { from => $s, to => \*STDOUT, buffer => pack("N", 1) . "+" };
my $later = sub { $! == EAGAIN || $! == EINTR };
while (my @open = grep { !$_->{done} } $in, $out) {
  my ($r, $w) = (IO::Select->new, IO::Select->new);
  length $_->{buffer} ? $w->add($_->{to}) : $r->add($_->{from}) for @open;
  my ($readable) = IO::Select->select($r, $w, undef);
  for my $way (@open) {
    my ($from, $into) = ($way->{from}, $way->{to});
    if (!length $way->{buffer} && grep { $_ == $from } @{$readable || []}) {
      my $n = sysread($from, my $data, 65536);
      next if !defined $n && $later->();
      $way->{ended} = 1 unless $n;
      $way->{buffer} = ($way == $out ? pack("N", $n || 0) : "") . ($n ? $data : "");
    }
    if (length $way->{buffer}) {
      my $n = syswrite($into, $way->{buffer});
      if (defined $n) { substr($way->{buffer}, 0, $n, "") }
      elsif (!$later->()) { exit 0 if $way == $out; $way->{buffer} = ""; $way->{ended} = 1 }
    }
    next unless $way->{ended} && !length $way->{buffer};
    shutdown($s, 1) if $way == $in;
    $way->{done} = 1;
  }
}
`;
