import t from 'tap';
import {
  CANCELLED,
  cancelRoleSetup,
  lastLine,
  NO_ROLE_SETUP,
  nextRoleSetup,
  outputTail,
  type RoleSetup,
  type RoleSetupInput,
  retryRoleSetup,
  TAIL_CHARACTERS,
} from '../../src/domain/role-setup.ts';

const none = NO_ROLE_SETUP;
const waits: RoleSetup = { status: 'none', id: 'a', detail: 'goes on as soon as the container runs' };
const installing: RoleSetup = { status: 'installing', id: 'a', detail: 'so far' };
const ready: RoleSetup = { status: 'ready', id: null, detail: 'done' };
const failed: RoleSetup = { status: 'failed', id: null, detail: 'no' };
const ALL = { none, waits, installing, ready, failed };
type Name = keyof typeof ALL;

const anew = (over: Partial<Extract<RoleSetupInput, { what: 'made_anew' }>> = {}): RoleSetupInput => ({
  what: 'made_anew',
  installs: true,
  carried: false,
  running: true,
  id: 'b',
  ...over,
});
const begun: RoleSetup = { status: 'installing', id: 'b', detail: null };
const toBegin: RoleSetup = { ...waits, id: 'b' };

/** What each setup becomes; where one is not named it stays as it is. */
const TABLE: readonly (readonly [string, RoleSetupInput, Partial<Record<Name, RoleSetup>> | RoleSetup])[] = [
  ['made anew', anew(), begun],
  ['made anew, and not running', anew({ running: false }), toBegin],
  ['made anew with a role without tools', anew({ installs: false }), none],
  ['carried over', anew({ carried: true }), { waits: begun, installing: begun }],
  ['stopped', { what: 'stopped', id: 'b' }, { waits: toBegin, installing: toBegin }],
  ['deleted', { what: 'deleted' }, none],
  ['printed', { what: 'printed', detail: 'x' }, { installing: { ...installing, detail: 'x' } }],
  ['installed', { what: 'ended', well: true, detail: 'x' }, { status: 'ready', id: null, detail: 'x' }],
  ['broken', { what: 'ended', well: false, detail: 'x' }, { status: 'failed', id: null, detail: 'x' }],
];

t.test('what becomes of a setup, whatever it is', async (t) => {
  for (const [name, input, becomes] of TABLE) {
    for (const [from, setup] of Object.entries(ALL) as [Name, RoleSetup][]) {
      const expected = 'status' in becomes ? becomes : (becomes[from] ?? setup);
      t.same(nextRoleSetup(setup, input), expected, `${from}, ${name}`);
    }
  }
});

t.test('a retry begins anew but leaves alone what is under way; a role without tools refuses', async (t) => {
  for (const [name, setup] of Object.entries(ALL)) {
    const expected = setup === installing ? installing : begun;
    t.same(retryRoleSetup(setup, true, 'b'), { ok: true, value: expected }, name);
    t.match(retryRoleSetup(setup, false, 'b'), { ok: false, error: { code: 'role_setup_not_needed' } }, name);
  }
});

t.test('what is under way or due can be cancelled, and nothing else', async (t) => {
  t.match(cancelRoleSetup(installing), {
    value: { status: 'failed', id: null, detail: `so far\n${CANCELLED}` },
  });
  for (const setup of [waits, begun]) {
    t.match(cancelRoleSetup(setup), { value: { status: 'failed', id: null, detail: CANCELLED } });
  }
  for (const setup of [none, ready, failed]) {
    t.match(cancelRoleSetup(setup), { ok: false, error: { code: 'role_setup_not_active' } });
  }
});

const outputs: readonly (readonly [string, string, string])[] = [
  ['whole lines without empty ones', 'one\n\n  two  \r\nthree', 'one\n  two\nthree'],
  ['what a terminal would show', '10%\r 50%\r100%\nnext', '100%\nnext'],
  ['no colours, titles or bells', '\u001b[1;31mred\u001b[0m \u001b]0;title\u0007x\u0007y', 'red xy'],
  ['an unfinished title ends with its line', '\u001b]0;never\nafter', 'after'],
  ['no NUL, no half characters', 'a\u0000b\ud83dc\ud83d\ude00', 'abc😀'],
  ['nothing', '\n\n', ''],
];

t.test('of an output plain text is kept', async (t) => {
  for (const [name, output, expected] of outputs) t.equal(outputTail(output), expected, name);
});

t.test('of a long output the last whole lines are kept', async (t) => {
  const lines = Array.from({ length: 2_000 }, (_, n) => `line ${n} 😀`);
  const tail = outputTail(lines.join('\n'));
  t.ok(tail.length <= TAIL_CHARACTERS && tail.length > TAIL_CHARACTERS - 20);
  t.match(tail, /^line \d+ 😀\n/);
  t.ok(tail.endsWith('line 1999 😀'));
  const full = `first\n${'x'.repeat(TAIL_CHARACTERS - 6)}`;
  t.equal(outputTail(full), full, 'as much as is kept');
  const endless = outputTail('😀'.repeat(TAIL_CHARACTERS));
  t.ok(endless.isWellFormed?.() ?? true);
  t.ok(endless.length <= TAIL_CHARACTERS);
  t.equal(lastLine(tail), 'line 1999 😀');
  t.equal([...(lastLine('😀'.repeat(300)) ?? '')].length, 200, 'an event takes no half characters either');
  t.equal(lastLine(null), null);
});
