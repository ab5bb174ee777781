import pino from 'pino';
import t from 'tap';
import type { Reached } from '../../src/adapters/docker/canary.ts';
import { NOT_LOOKED, watchIsolation } from '../../src/app/main/isolation.ts';

const log = pino({ level: 'silent' });
const host: Reached = { what: 'host', at: '10.0.0.1:4000' };
const neighbour: Reached = { what: 'neighbour', at: '10.0.0.3:8099' };

/** What the part says after canaries that find these things, one after the other. */
async function after(finds: readonly (readonly Reached[] | Error)[]) {
  const left = [...finds];
  const parts = { isolation: NOT_LOOKED };
  let asserted = 0;
  const watched = watchIsolation({
    parts,
    log,
    assertRules: async () => {
      asserted += 1;
    },
    firstAfterMs: 0,
    everyMs: 1,
    retryMs: 1,
  });
  const done = new Promise<void>((resolve) => {
    watched.begin({
      prove: async () => {
        const next = left.shift();
        if (next instanceof Error) throw next;
        if (next === undefined) {
          resolve();
          return await new Promise(() => {});
        }
        return next;
      },
      stop: async () => {},
    });
  });
  await done;
  return { ...parts.isolation, asserted };
}

t.test('what a canary finds is what the readiness says', async (t) => {
  t.match(await after([[]]), { status: 'ready', detail: /^proved at /, asserted: 0 });
  t.match(await after([[host], []]), {
    status: 'ready',
    detail: 'was open (services of this machine), is closed again',
    asserted: 1,
  });
  t.match(await after([[host], [host, neighbour, host]]), {
    status: 'degraded',
    detail: 'containers can reach services of this machine, each other',
    mend: /packet filter/,
    asserted: 1,
  });
  t.match(await after([new Error('no engine')]), {
    status: 'degraded',
    detail: /could not be tried/,
    mend: /log/,
  });
  t.match(
    await after([[host], new Error('no engine')]),
    { status: 'degraded', detail: /^containers can reach services of this machine; .*could not/ },
    'what was open stays said',
  );
  t.match(
    await after([new Error('no engine'), []]),
    { status: 'ready' },
    'and the next one may find it well',
  );
});
