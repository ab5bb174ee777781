export const CANARY_PORT = 8099;

/** Answers every connection with a word; perl is in every Debian image. */
export const CANARY_LISTEN = `use IO::Socket::INET; $s = IO::Socket::INET->new(Listen => 5, LocalPort => ${CANARY_PORT}, ReuseAddr => 1) or die; while ($c = $s->accept) { print $c "berth\\n"; close $c }`;

/**
 * `ADDRESS:PORT...`: prints each that lets itself be connected to, then each socket of an engine that is there, and at
 * last that it has tried them all. A listener that has just been started may need a moment, so each is tried for a second (longer on
 * a busy machine).
 */
export const CANARY_DIAL = `
command -v bash >/dev/null || exit 1
for target in "$@"; do
  timeout 3 bash -c 'for n in 1 2 3 4 5; do (: < "/dev/tcp/\${1%:*}/\${1##*:}") 2>/dev/null && echo "$1" && exit; sleep 0.2; done' berth "$target" &
done
wait
for socket in /var/run/docker.sock /run/docker.sock /run/berth-*/docker.sock /run/podman/podman.sock; do
  [ -e "$socket" ] && echo "$socket"
done
echo 'tried all'
`;
