/** A spare that reads nothing for longer ends: its service is gone. The terminal's driver measures at most 25.5 s. */
const SILENT_SECONDS = 25;
/** Well below that. */
export const KEEP_ALIVE_SECONDS = 8;
/** A line that ends a waiting spare. */
export const SPARE_END = 'end';
/** Printed when a spare waits for its line. */
export const SPARE_READY = '\x1bPberth-ready\x1b\\';

/**
 * `PROGRAM`: waits for the line `MARKER ARGUMENT...` and becomes that program with these arguments and BERTH_TERM set,
 * as if the engine had just started it. Empty lines keep it waiting. While it waits, the terminal echoes nothing, and a
 * read ends after that time.
 */
export const spareProgram = (silentSeconds = SILENT_SECONDS): string => `: berth: ready for the next terminal
exec 2>/dev/null
set -f
saved=$(stty -g) || exit 1
stty -echo -icanon min 0 time ${silentSeconds * 10} || exit 1
printf '\\033Pberth-ready\\033\\\\'
while read -r line && [ -z "$line" ]; do :; done
[ -n "$line" ] && [ "$line" != ${SPARE_END} ] || exit 0
stty "$saved" || exit 1
program=$1
set -- $line
export BERTH_TERM="$1"
shift
exec sh -c "$program" "$@"
`;

/** The line for a spare, or null where an argument cannot be in one. */
export function spareLine(marker: string, args: readonly string[]): string | null {
  const words = [marker, ...args];
  return words.every((word) => /^[!-~]+$/.test(word)) ? `${words.join(' ')}\n` : null;
}
