/** Output that went by too fast to be drawn on a screen that is kept for a redraw. */

/** No private mode that matters is longer. */
const MAX_SEQUENCE_BYTES = 32;
const MAX_MODES = 256;
const START = '\x1b[?';
const SWITCH = /^[0-9;]{1,28}[hl]/;

/**
 * Keeps of such output what lasts beyond it: the private modes that it switched, as bracketed paste, the mouse and the
 * alternate screen. Its text has long scrolled away when the screen goes on behind it.
 */
export function trackModes() {
  /** In the order of their last switch. */
  const switches = new Set<string>();
  let tail = Buffer.alloc(0);
  let isEmpty = true;

  const look = (bytes: Buffer): void => {
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
      look(Buffer.concat([tail, bytes.subarray(0, MAX_SEQUENCE_BYTES)]));
      look(bytes);
      tail = Buffer.from(
        Buffer.concat([tail, bytes.subarray(-MAX_SEQUENCE_BYTES)]).subarray(-MAX_SEQUENCE_BYTES),
      );
    },

    /** Output that does to a terminal what all of it did, as far as that lasts; then it is forgotten. */
    take(): Buffer {
      // What was cut off is given up, and the pen and the character set are the usual ones.
      const output = ['\x18\x1b[m\x1b(B', ...[...switches].map((found) => START + found)].join('');
      switches.clear();
      tail = Buffer.alloc(0);
      isEmpty = true;
      return Buffer.from(output, 'latin1');
    },
  };
}
