export const CANARY_PORT = 8099;

/** Answers every connection with a word; perl is in every Debian image. */
export const CANARY_LISTEN = `use IO::Socket::INET; $s = IO::Socket::INET->new(Listen => 5, LocalPort => ${CANARY_PORT}, ReuseAddr => 1) or die; while ($c = $s->accept) { print $c "berth\\n"; close $c }`;

/**
 * `ADDRESS:PORT...`: prints each that accepts a connection within 15 rounds of 0.2 s. Refused ones are retried, since a
 * new listener may need a moment. One process dials all at once, for machines with hundreds of addresses.
 */
const DIAL_ALL = `
use Errno;
use Fcntl;
use Socket;
my (%pending, %open);
for my $round (1 .. 15) {
  for my $target (grep { !$open{$_} && !$pending{$_} } @ARGV) {
    my ($address, $port) = split /:/, $target;
    socket(my $socket, PF_INET, SOCK_STREAM, 0) or die;
    fcntl($socket, F_SETFL, O_NONBLOCK);
    if (connect($socket, pack_sockaddr_in($port, inet_aton($address)))) { $open{$target} = 1 }
    elsif ($!{EINPROGRESS}) { $pending{$target} = $socket }
  }
  last if keys(%open) == @ARGV;
  my $bits = "";
  vec($bits, fileno($pending{$_}), 1) = 1 for keys %pending;
  my $none = "";
  my $found = select($none, my $ready = $bits, undef, 0.2);
  for my $target (grep { vec($ready, fileno($pending{$_}), 1) } keys %pending) {
    my $error = unpack("i", getsockopt($pending{$target}, SOL_SOCKET, SO_ERROR));
    $open{$target} = 1 if !$error;
    delete $pending{$target};
  }
  select(undef, undef, undef, 0.2) if $found > 0;
}
print "$_\\n" for grep { $open{$_} } @ARGV;
`;

/** Prints each engine socket that is there. */
export const ENGINE_SOCKETS = `
for socket in /var/run/docker.sock /run/docker.sock /run/berth-*/docker.sock /run/podman/podman.sock; do
  [ -e "$socket" ] && echo "$socket"
done
`;

/** `ADDRESS:PORT...`: prints each that accepts a connection, what `also` prints, and finally that all were tried. */
export const canaryDial = (also: string): string => `
perl -e '${DIAL_ALL}' "$@" || exit 1
${also}
echo 'tried all'
`;
