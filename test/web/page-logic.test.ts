import { setImmediate as immediate } from 'node:timers/promises';
import t from 'tap';
import type { Container, Tier } from '../../web/src/api/types.ts';
import { detailsInWords } from '../../web/src/lib/audit-words.ts';
import { dayRange } from '../../web/src/lib/day-range.ts';
import { ago, bytes, clockTime, cpu, diskUse, memory, plural } from '../../web/src/lib/format.ts';
import { lossLines } from '../../web/src/lib/losses.ts';
import { suggestName } from '../../web/src/lib/names.ts';
import { singleFlight } from '../../web/src/lib/single-flight.ts';
import { presets } from '../../web/src/lib/sizes.ts';
import { usableForMs } from '../../web/src/session/token-life.ts';
import { HEALTHY } from '../../web/src/terminal/connection-types.ts';
import { outputQueue } from '../../web/src/terminal/output-queue.ts';
import type { Trouble } from '../../web/src/terminal/protocol.ts';
import { actionOf, isPaneAction, type KeyPress, paneAction } from '../../web/src/terminal/shortcuts.ts';
import {
  canConnect,
  commonOverlay,
  type Overlay,
  overlayOf,
} from '../../web/src/views/terminal/overlay-kind.ts';

const press = (keys: Partial<KeyPress>): KeyPress => ({
  key: '',
  code: '',
  ctrlKey: false,
  shiftKey: false,
  altKey: false,
  metaKey: false,
  ...keys,
});

const ALONE = { hasSelection: false, severalPanes: false };

t.test('Ctrl+C interrupts unless something is selected', async (t) => {
  const ctrlC = press({ ctrlKey: true, code: 'KeyC', key: 'c' });
  t.equal(actionOf(ctrlC, ALONE), null);
  t.equal(actionOf(ctrlC, { ...ALONE, hasSelection: true }), 'copy');
});

t.test('the page takes its own keys and leaves all others to the shell', async (t) => {
  const withShift = (code: string) => press({ ctrlKey: true, shiftKey: true, code, key: code.slice(3) });
  t.same(
    ['KeyC', 'KeyV', 'KeyF'].map((code) => actionOf(withShift(code), ALONE)),
    ['copy', 'paste', 'search'],
  );
  t.equal(actionOf(press({ ctrlKey: true, key: '+', code: 'Equal', shiftKey: true }), ALONE), 'larger');
  t.equal(actionOf(press({ ctrlKey: true, key: '-', code: 'Minus' }), ALONE), 'smaller');
  const shells = [
    press({ ctrlKey: true, key: 'v', code: 'KeyV' }),
    press({ ctrlKey: true, key: 'f', code: 'KeyF' }),
    press({ altKey: true, ctrlKey: true, key: 'c', code: 'KeyC' }),
    press({ shiftKey: true, key: 'C', code: 'KeyC' }),
    press({ key: '+', code: 'Equal' }),
  ];
  const all = { hasSelection: true, severalPanes: true };
  for (const each of shells) t.equal(actionOf(each, all), null, JSON.stringify(each));
});

t.test('keys among panes are taken from the shell only while there are several', async (t) => {
  const withShift = (code: string) => press({ ctrlKey: true, shiftKey: true, code });
  const several = { ...ALONE, severalPanes: true };
  const cases = [
    ['KeyE', 'split_right', 'split_right'],
    ['KeyO', 'split_below', 'split_below'],
    ['KeyX', null, 'close_pane'],
    ['ArrowLeft', null, 'go_left'],
    ['ArrowRight', null, 'go_right'],
    ['ArrowUp', null, 'go_up'],
    ['ArrowDown', null, 'go_down'],
  ] as const;
  for (const [code, alone, among] of cases) {
    t.equal(actionOf(withShift(code), ALONE), alone, code);
    t.equal(actionOf(withShift(code), several), among, code);
    t.equal(paneAction(withShift(code), true), among, code);
    t.equal(isPaneAction(among), true, among);
    t.equal(paneAction({ ...withShift(code), altKey: true }, true), null);
    t.equal(actionOf({ ...withShift(code), shiftKey: false }, several), null);
  }
  t.equal(paneAction(withShift('KeyC'), true), null, 'no key of a terminal');
  t.equal(isPaneAction('search'), false);
});

t.test('output is fed as fast as it is drawn, in order, and a flood is told once', async (t) => {
  const drawn: number[] = [];
  const done: (() => void)[] = [];
  const told: string[] = [];
  const queue = outputQueue(
    {
      write: (data, drawnNow) => {
        drawn.push(data[0] ?? -1);
        done.push(drawnNow);
      },
      flooded: () => told.push('flooded'),
      drained: () => told.push('drained'),
    },
    1_500_000,
  );
  for (let i = 0; i < 8; i += 1) queue.push(new Uint8Array(400_000).fill(i));
  t.same(drawn, [0, 1], 'no more than the screen can take');
  while (done.length > 0) done.shift()?.();
  t.same(drawn, [0, 1, 2, 3, 4, 5, 6, 7]);
  t.same(told, ['flooded', 'drained']);
  t.equal(queue.heldBytes, 0);
});

const trying = (trouble: Trouble) => ({ kind: 'connecting', trouble }) as const;
const waits = (trouble: Trouble) => ({ kind: 'waiting', trouble, delayMs: 900, attempt: 2 }) as const;
const container = (status: string) => ({ status, name: 'a' }) as Container;

t.test(
  'what stands over the terminal follows from the connection, before it from the container',
  async (t) => {
    const before = { connection: null, everOpen: false, health: HEALTHY, reach: 'fine' } as const;
    t.same(overlayOf(before, 'unknown'), { kind: 'connecting' });
    t.same(overlayOf(before, container('running')), { kind: 'connecting' });
    t.same(overlayOf(before, container('creating')), { kind: 'preparing', status: 'creating' });
    t.match(overlayOf(before, container('stopped')), { kind: 'over', why: 'stopped' });
    t.match(overlayOf(before, container('failed')), { kind: 'over', why: 'stopped' });
    t.match(overlayOf(before, 'gone'), { kind: 'over', why: 'deleted' });
    const open = { ...before, connection: { kind: 'open' }, everOpen: true } as const;
    t.same(overlayOf(open, container('stopped')), { kind: 'none' });
    const silent = { answers: false, unsentCharacters: 18 };
    const cases = [
      [{ ...open, health: silent }, 'no_answer', null],
      [{ ...open, health: silent, reach: 'offline' }, 'offline', null],
      [{ ...open, health: silent, connection: trying('line') }, 'line', null],
      [{ ...open, health: silent, connection: waits('line') }, 'line', 900],
      [{ ...open, health: silent, connection: waits('line'), reach: 'offline' }, 'offline', 900],
      [{ ...open, health: silent, connection: waits('processes') }, 'processes', 900],
    ] as const;
    for (const [facts, how, retryInMs] of cases) {
      const lost = { kind: 'lost', how, retryInMs, everOpen: true, unsentCharacters: 18 };
      t.same(overlayOf(facts, 'unknown'), lost);
    }
    const deleted = { ...open, connection: { kind: 'over', why: 'deleted', exitCode: null } } as const;
    t.match(overlayOf(deleted, container('running')), { why: 'deleted' }, 'as it was before');
    t.match(overlayOf(deleted, 'gone'), { why: 'deleted' });
    t.match(overlayOf(deleted, container('stopped')), { why: 'stopped' }, 'restored meanwhile');
    const stopped = { ...open, connection: { kind: 'over', why: 'stopped', exitCode: null } } as const;
    t.match(overlayOf(stopped, 'gone'), { why: 'deleted' }, 'deleted after it was stopped');
    t.same(
      overlayOf({ ...open, reach: 'offline' }, 'unknown'),
      { kind: 'none' },
      'a line that answers is up',
    );
    t.same(overlayOf({ ...before, connection: trying('line') }, 'unknown'), { kind: 'connecting' });
    for (const trouble of ['processes', 'unresponsive', 'busy', 'too_many', 'rate', 'database'] as const)
      for (const connection of [trying(trouble), waits(trouble)])
        t.match(overlayOf({ ...before, connection }, 'unknown'), { kind: 'lost', how: trouble });
    t.equal(canConnect(container('starting')), false);
  },
);

t.test('what is true of all panes is said once, and what is of one in its place', async (t) => {
  const over = (why: 'ended' | 'stopped' | 'replaced' | 'deleted'): Overlay => ({
    kind: 'over',
    why,
    exitCode: null,
  });
  const lost = (retryInMs: number | null, unsentCharacters = 0): Overlay => ({
    kind: 'lost',
    how: 'line',
    retryInMs,
    everOpen: true,
    unsentCharacters,
  });
  const none: Overlay = { kind: 'none' };
  const connecting: Overlay = { kind: 'connecting' };
  const cases: [string, Overlay[], Overlay | null][] = [
    ['all is well', [none, none], none],
    ['nothing is there yet', [], null],
    ['one is new', [none, connecting], null],
    ['all are new', [connecting, connecting], connecting],
    ['the service has gone', [lost(900), lost(200)], lost(900)],
    ['what was typed into any of them counts', [lost(9, 4), lost(9, 2)], lost(9, 6)],
    ['one line is lost', [none, lost(200)], null],
    ['it was stopped', [over('stopped'), over('stopped')], over('stopped')],
    ['not all have heard of it yet', [none, lost(9), over('deleted')], over('deleted')],
    ['a shell has ended', [over('ended'), none], null],
    ['the only shell has ended', [over('ended')], null],
    ['one is shown elsewhere', [over('replaced'), none], null],
  ];
  for (const [name, overlays, common] of cases) t.same(commonOverlay(overlays), common, name);
});

const range = (min: number, max: number) => ({ min, max });
const tier = (memory: number, disk: number): Tier => ({
  name: 't',
  memory_mb: range(256, memory),
  cpu_shares: range(100, 2000),
  disk_mb: range(512, disk),
  layer_mb: 2048,
  max_containers: 5,
  max_agents: 2,
  requests_per_minute: 1200,
  max_terminals: 64,
  max_event_sockets: 64,
  max_commands: 32,
  max_uploads: 16,
  max_downloads: 32,
});

t.test('suggested sizes lie within the tier, the last is all of it, and none comes twice', async (t) => {
  for (const each of [tier(2048, 10_240), tier(8192, 51_200), tier(300, 600), tier(256, 512)]) {
    const all = presets(each);
    for (const { resources } of all) {
      for (const key of ['memory_mb', 'cpu_shares', 'disk_mb'] as const) {
        t.ok(resources[key] >= each[key].min && resources[key] <= each[key].max, `${key} ${resources[key]}`);
      }
    }
    t.equal(new Set(all.map(({ resources }) => JSON.stringify(resources))).size, all.length);
    t.match(all.at(-1)?.resources, { memory_mb: each.memory_mb.max, disk_mb: each.disk_mb.max });
  }
});

t.test('a suggested name is a valid one and not taken', async (t) => {
  const first = suggestName([], () => 0);
  t.match(first, /^[a-z0-9-]{1,64}$/);
  t.not(
    suggestName([first], () => 0),
    first,
  );
});

t.test('numbers and times read well', async (t) => {
  t.same([memory(512), memory(1024), memory(1536)], ['512 MB', '1 GB', '1.5 GB']);
  t.same(
    [diskUse(0, 512), diskUse(300, 2048), diskUse(1100, 1024)],
    ['0 of 512 MB', '0.3 of 2 GB', '1.1 of 1 GB'],
  );
  t.same([cpu(1000), cpu(250)], ['1 CPU', '0.25 CPU']);
  t.same(
    [clockTime(0), clockTime(7_400), clockTime(61_000), clockTime(3_723_000)],
    ['0:00', '0:07', '1:01', '1:02:03'],
  );
  t.same([plural(1, 'container'), plural(0, 'container')], ['1 container', '0 containers']);
  const now = new Date('2026-01-02T00:00:00Z');
  const times = [
    '2026-01-01T23:59:50Z',
    '2026-01-01T23:55:00Z',
    '2026-01-01T22:00:00Z',
    '2025-12-30T00:00:00Z',
  ];
  t.same(
    times.map((time) => ago(time, now)),
    ['just now', '5 min ago', '2 h ago', '3 d ago'],
  );
});

t.test('a login token is renewed before it expires, also when this clock is wrong', async (t) => {
  const expires = '2026-01-01T00:15:00Z';
  const at = (time: string) => usableForMs(expires, Date.parse(time));
  t.equal(at('2026-01-01T00:05:00Z'), 9 * 60_000);
  t.equal(at('2025-12-31T00:00:00Z'), 14 * 60_000, 'a clock that is slow');
  t.equal(at('2026-01-01T05:00:00Z'), 30_000, 'a clock that is fast');
  t.equal(usableForMs('nonsense', 0), 30_000);
});

t.test('calls join the one that is under way; the next begins anew, also after a failure', async (t) => {
  let calls = 0;
  const fly = singleFlight(async () => {
    calls += 1;
    await immediate();
    if (calls === 2) throw new Error('no');
    return calls;
  });
  t.same(await Promise.all([fly(), fly(), fly()]), [1, 1, 1]);
  await t.rejects(Promise.all([fly(), fly()]));
  t.equal(await fly(), 3);
});

t.test('what a recreate loses is told in a few lines', async (t) => {
  const nothing = { packages: [], package_count: 0, files: [], layer_bytes: 0, complete: true };
  t.same(lossLines(nothing), []);
  const apt = (name: string, over: object = {}) => ({
    manager: 'apt',
    name,
    version: '1',
    change: 'added',
    automatic: false,
    ...over,
  });
  const place = (path: string, over: object = {}) => ({
    path,
    added: 2,
    changed: 0,
    removed: 0,
    size_bytes: 2048,
    disposable: false,
    ...over,
  });
  const files = [
    place('/opt/tool'),
    place('/etc/issue', { added: 0, removed: 1, size_bytes: null }),
    place('/var/cache', { disposable: true }),
  ];
  const packages = [apt('jq'), apt('vim', { change: 'removed' }), apt('libjq1', { automatic: true })];
  t.same(lossLines({ ...nothing, packages, package_count: 3, files }), [
    'Packages: jq, vim (removed) and 1 more',
    '/opt/tool: 2 added, 2 KB',
    '/etc/issue: 1 removed',
  ]);
  t.same(
    lossLines({ ...nothing, files: [place('/var/cache', { disposable: true })] }),
    [],
    'caches are not missed',
  );
  const many = Array.from({ length: 8 }, (_, n) => place(`/opt/${n}`));
  t.same(lossLines({ ...nothing, files: many, complete: false }).slice(-2), [
    '2 more places',
    'There is more than could be looked at.',
  ]);
  t.same([100, 1536, 5 * 1024 ** 2, 3 * 1024 ** 3].map(bytes), ['100 B', '1.5 KB', '5 MB', '3 GB']);
});

t.test('days of a filter go from the first moment of one to the end of the other', async (t) => {
  const { from, to } = dayRange('2026-03-01', '2026-03-31');
  t.equal(new Date(from).getTime(), new Date(2026, 2, 1).getTime());
  t.equal(new Date(to).getTime(), new Date(2026, 3, 1).getTime());
  t.same(dayRange('', '2026'), { from: '', to: '' }, 'what is not there yet is left out');
  t.same(dayRange('0002-03-01', '0020-03-01'), { from: '', to: '' }, 'a year that is being typed');
});

t.test('records of commands and files are shown in words, others as they are', async (t) => {
  const about = { container_id: 'box', session_id: 's' };
  const words = (action: string, details: object | string) =>
    detailsInWords({ action, details: typeof details === 'string' ? details : JSON.stringify(details) });
  t.equal(words('command_run', { ...about, command: 'ls' }), 'ran ls in container box (signed in)');
  t.equal(
    words('file_downloaded', { container_id: 'box', token_prefix: 'svc_0', path: '/workspace', times: 3 }),
    'downloaded /workspace in container box (token svc_0…), the last of 3 in a minute',
  );
  t.equal(words('login', 'some id'), 'some id');
  t.equal(words('command_run', 'not json'), 'not json');
});
