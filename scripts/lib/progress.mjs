const QUIET_MS = 1000;
const PLAIN_EVERY_MS = 15_000;
const TICK_MS = 100;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/**
 * Runs `work`. After a second it shows progress: a spinner on a terminal, plain lines elsewhere.
 * @template T
 * @param {string} label
 * @param {() => Promise<T>} work
 * @param {NodeJS.WriteStream} out
 * @returns {Promise<T>}
 */
export async function step(label, work, out = process.stdout) {
  const startedAt = performance.now();
  const display = out.isTTY ? spinner(label, startedAt, out) : plainLines(label, startedAt, out);
  try {
    const result = await work();
    display.end(true);
    return result;
  } catch (error) {
    display.end(false);
    throw error;
  }
}

/** @param {number} startedAt */
const seconds = (startedAt) => `${Math.round((performance.now() - startedAt) / 1000)} s`;

/**
 * @param {string} label
 * @param {number} startedAt
 * @param {NodeJS.WriteStream} out
 */
function spinner(label, startedAt, out) {
  let ticks = 0;
  let shown = false;
  const timer = setInterval(() => {
    ticks += 1;
    if (ticks * TICK_MS < QUIET_MS) return;
    shown = true;
    out.write(`\r\x1b[K${FRAMES[ticks % FRAMES.length]} ${label} … ${seconds(startedAt)}`);
  }, TICK_MS);
  return {
    /** @param {boolean} ok */
    end(ok) {
      clearInterval(timer);
      if (shown) out.write(`\r\x1b[K${label} … ${ok ? seconds(startedAt) : 'failed'}\n`);
    },
  };
}

/**
 * @param {string} label
 * @param {number} startedAt
 * @param {NodeJS.WriteStream} out
 */
function plainLines(label, startedAt, out) {
  let shown = false;
  const begin = setTimeout(() => {
    shown = true;
    out.write(`${label} …\n`);
  }, QUIET_MS);
  const again = setInterval(() => out.write(`${label} … ${seconds(startedAt)}\n`), PLAIN_EVERY_MS);
  return {
    /** @param {boolean} ok */
    end(ok) {
      clearTimeout(begin);
      clearInterval(again);
      if (shown) out.write(`${label} … ${ok ? `done in ${seconds(startedAt)}` : 'failed'}\n`);
    },
  };
}
