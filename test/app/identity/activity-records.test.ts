import t from 'tap';
import { actRecords, FOLDED_FOR_MS, KINDS_PER_USER } from '../../../src/app/audit/activity-records.ts';
import type { Act } from '../../../src/domain/activity.ts';
import type { AuditEntry } from '../../../src/domain/audit.ts';
import { aCaller } from '../../support/samples/samples.ts';
import { valuesOf } from '../../support/values.ts';

const origin = { ipAddress: '192.0.2.1', userAgent: 'curl' };
const ran = (command: string, dbId = 'box', sessionId = 's1'): Act => ({
  action: 'command_run',
  caller: aCaller({ credential: { kind: 'login', sessionId, locked: false, barred: false } }),
  origin,
  dbId,
  what: { command },
});

/** With a test clock and an audit that can fail. */
function scene() {
  const entries: AuditEntry[] = [];
  const state = { nowMs: 0, fault: null as Error | null, meanwhile: async (): Promise<void> => {} };
  const acts = actRecords({
    audit: {
      append: async (...more) => {
        await state.meanwhile();
        if (state.fault !== null) throw state.fault;
        const known = new Set(entries.map(({ id }) => id));
        entries.push(...more.filter(({ id }) => id === undefined || !known.has(id)));
      },
    },
    monotonicMs: () => state.nowMs,
  });
  const after = async (ms: number): Promise<void> => {
    state.nowMs += ms;
    await acts.flush();
  };
  return { acts, entries, state, after, details: () => entries.map((one) => JSON.parse(one.details)) };
}

t.test('the first act is recorded at once, those of the next minute in one record at its end', async (t) => {
  const { acts, entries, after, details } = scene();
  const first = { container_id: 'box', session_id: 's1', command: 'ls' };
  await acts.record(ran('ls'));
  t.match(entries, [{ action: 'command_run', userId: aCaller().user.id, ...origin }]);
  t.same(details(), [first]);
  for (const command of ['cat', 'rm', 'id']) await acts.record(ran(command));
  await after(FOLDED_FOR_MS - 1);
  t.equal(entries.length, 1, 'the minute is not over');
  await after(1);
  t.same(details(), [first, { ...first, command: 'id', times: 3 }]);
  await acts.record(ran('ls'));
  t.equal(entries.length, 2, 'one record a minute, however long it lasts');
  await after(FOLDED_FOR_MS);
  t.same(details().at(-1), first);
  await after(FOLDED_FOR_MS);
  await acts.record(ran('ls'));
  t.equal(entries.length, 4, 'after a quiet minute at once');
});

t.test('another credential, container or action has its own record', async (t) => {
  const { acts, entries } = scene();
  for (const act of [ran('ls'), ran('ls', 'other'), ran('ls', 'box', 's2')]) await acts.record(act);
  await acts.record({ ...ran('ls'), action: 'file_uploaded', what: { path: '/workspace/a' } });
  t.equal(entries.length, 4);
});

t.test('many credentials give a user no more records', async (t) => {
  const { acts, entries, after, details } = scene();
  for (let n = 0; n < 1_000; n += 1) await acts.record(ran('ls', 'box', `s${n}`));
  t.equal(entries.length, KINDS_PER_USER + 1);
  await after(FOLDED_FOR_MS);
  t.equal(entries.length, KINDS_PER_USER + 2);
  t.match(details().at(-1), { session_id: 's999', times: 1_000 - KINDS_PER_USER - 1 });
  for (let n = 0; n < 3; n += 1) await after(FOLDED_FOR_MS);
  await acts.record(ran('ls', 'box', 's5'));
  t.match(details().at(-1), { session_id: 's5' }, 'later it has its own again');
});

t.test('a failed write is repeated once later; the end writes all', async (t) => {
  const { acts, entries, state, after, details } = scene();
  state.fault = new Error('down');
  await t.rejects(acts.record(ran('ls')), /down/, 'the act is not done without its record');
  state.fault = null;
  await acts.record(ran('ls'));
  await acts.record(ran('cat'));
  state.fault = new Error('down');
  await t.rejects(after(FOLDED_FOR_MS), /down/);
  await acts.record(ran('rm'));
  state.fault = null;
  await acts.flush();
  t.same(valuesOf(details(), 'command'), ['ls', 'cat']);
  await acts.flushAll();
  t.equal(details().at(-1)?.command, 'rm');
  t.equal(entries.length, 3);
});

t.test('an act during the closing of its minute is not lost', async (t) => {
  const { acts, entries, state, after, details } = scene();
  await acts.record(ran('ls'));
  state.meanwhile = async () => {
    state.meanwhile = async () => {};
    await acts.record(ran('rm'));
  };
  await after(FOLDED_FOR_MS);
  t.equal(entries.length, 1, 'it is folded');
  await after(FOLDED_FOR_MS);
  t.match(details().slice(1), [{ command: 'rm' }]);
});

t.test('the first of concurrent acts fails alone', async (t) => {
  const { acts, state, after, details } = scene();
  state.meanwhile = async () => {
    state.meanwhile = async () => {};
    await acts.record(ran('rm'));
    state.fault = new Error('down');
  };
  await t.rejects(acts.record(ran('ls')), /down/);
  state.fault = null;
  await after(FOLDED_FOR_MS);
  t.match(details(), [{ command: 'rm' }], 'the second was done, so it is on record');
});

t.test("a record has a command's first word or a path as text, and nothing else", async (t) => {
  const { acts, details } = scene();
  const caller = aCaller({
    credential: {
      kind: 'api_token',
      tokenId: 't',
      prefix: 'svc_01234567',
      scopes: ['write'],
      name: 'ci',
      containers: null,
      usesLeft: null,
    },
  });
  await acts.record({ ...ran(`\u001b[2J\u202e${'x'.repeat(1_000)}`), caller });
  t.match(details(), [{ token_prefix: 'svc_01234567', command: /^\[2Jx{197}$/ }]);
});
