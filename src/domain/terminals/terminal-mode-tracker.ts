/** Output too fast to be drawn on the screen kept for redraws. */

/** No relevant private mode is longer. */
const MAX_SEQUENCE_BYTES = 32;
const MAX_MODES = 256;
const START = '\x1b[?';
const SWITCH = /^[0-9;]{1,28}[hl]/;

/**
 * Keeps the lasting part of such output: the private modes that it set, such as bracketed paste, the mouse and the
 * alternate screen. Its text has scrolled away when drawing resumes.
 */
export function trackModes() {
  /** In the order of the last change. */
  const switches = new Set<string>();
  let tail = Buffer.alloc(0);
  let isEmpty = true;

  const scan = (bytes: Buffer): void => {
    for (let at = bytes.indexOf(START); at >= 0; at = bytes.indexOf(START, at + START.length)) {
      const from = at + START.length;
      const [found] = SWITCH.exec(bytes.toString('latin1', from, from + MAX_SEQUENCE_BYTES)) ?? [];
      if (found !== undefined) keep(found);
    }
  };
  const keep = (found: string): void => {
    switches.delete(found);
    switches.add(found);
    const [oldest] = switches;
    if (switches.size > MAX_MODES && oldest !== undefined) switches.delete(oldest);
  };

  return {
    isEmpty: (): boolean => isEmpty,

    add(bytes: Buffer): void {
      isEmpty = false;
      scan(Buffer.concat([tail, bytes.subarray(0, MAX_SEQUENCE_BYTES)]));
      scan(bytes);
      tail = Buffer.from(
        Buffer.concat([tail, bytes.subarray(-MAX_SEQUENCE_BYTES)]).subarray(-MAX_SEQUENCE_BYTES),
      );
    },

    /** Output with the lasting effects of everything tracked, which is then forgotten. */
    take(): Buffer {
      // Cancels a partial sequence and resets the pen and the character set.
      const output = ['\x18\x1b[m\x1b(B', ...[...switches].map((found) => START + found)].join('');
      switches.clear();
      tail = Buffer.alloc(0);
      isEmpty = true;
      return Buffer.from(output, 'latin1');
    },
  };
}
