type Dispatcher = { readonly constructor: new (options: object) => object };

/** Where Node.js keeps what sends its requests. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1');

let unlimited: Promise<object> | null = null;

/** For streams: Node.js ends an answer that is silent for five minutes. Empty elsewhere, and behind a proxy agent. */
export function withoutSilenceLimit(): Promise<object> {
  unlimited ??= makeUnlimited();
  return unlimited;
}

async function makeUnlimited(): Promise<object> {
  if (!('process' in globalThis)) return {};
  // why: the first request loads it
  await fetch('data:,');
  const used = (globalThis as { readonly [DISPATCHER]?: Dispatcher })[DISPATCHER];
  if (used?.constructor.name !== 'Agent') return {};
  return { dispatcher: new used.constructor({ bodyTimeout: 0, headersTimeout: 0 }) };
}
