/** A spare that receives nothing for this long assumes that its service is gone, and exits. At most 25. */
const SILENCE_LIMIT_SECONDS = 25;
/** A line that ends a waiting spare. */
export const SPARE_END = 'end';
/** Printed when a spare waits for its line. */
export const SPARE_READY = '\x1bPberth-ready\x1b\\';

/**
 * `PROGRAM`: waits for the line `MARKER ARGUMENT...` and becomes that program with these arguments and BERTH_TERM set,
 * as if the engine had just started it. The program also restores the terminal's settings, from BERTH_TTY, since each
 * program started here costs a millisecond. Empty lines keep it waiting. While it waits, the terminal echoes nothing,
 * and a read gives up after the limit: in most shells by its own option, which `dash` does not have, and there by the
 * terminal driver, which BusyBox does not ask.
 */
export const spareProgram = (
  limitSeconds = SILENCE_LIMIT_SECONDS,
): string => `: berth: ready for the next terminal
exec 2>/dev/null
set -f
saved=$(stty -g) || exit 1
limit=
(read -r -t 1 x </dev/null)
[ $? -gt 1 ] || limit='-t ${limitSeconds}'
stty -echo -icanon min 0 time ${limitSeconds * 10} || exit 1
printf '\\033Pberth-ready\\033\\\\'
while read -r $limit line || exit 0; do [ -z "$line" ] || break; done
[ "$line" != ${SPARE_END} ] || exit 0
program=$1
set -- $line
set +f
unset BERTH_SPARE
export BERTH_TERM="$1" BERTH_TTY="$saved"
shift
exec sh -c "$program" "$@"
`;

/** The line for a spare, or null when an argument contains what a line cannot carry. */
export function spareLine(marker: string, args: readonly string[]): string | null {
  const words = [marker, ...args];
  return words.every((word) => /^[!-~]+$/.test(word)) ? `${words.join(' ')}\n` : null;
}
