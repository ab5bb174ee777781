import t from 'tap';
import {
  absenceBefore,
  type ComponentReport,
  type Finding,
  findingsOf,
  type Outage,
  outageChanges,
  partsOf,
  type ReplicaReport,
  replicaState,
  replicasFinding,
  reportedParts,
} from '../../../src/domain/service/health.ts';
import type { Component } from '../../../src/domain/service/health-words.ts';
import { valuesOf } from '../../support/values.ts';

const at = (second: number): Date => new Date(Date.UTC(2026, 0, 1) + second * 1_000);
const ready: Finding = { state: 'ready' };
const testing: Finding = { state: 'testing' };
const silent: Finding = { state: 'degraded', reason: 'unreachable', detail: 'does not answer' };
const gone: Finding = { state: 'down', reason: 'missing', detail: null };

const engine = (finding: Finding): ComponentReport => ({ component: 'engine', mend: null, ...finding });

const report = (replica: string, seen: number, finding: Finding = ready, stopped = false): ReplicaReport => ({
  replica,
  startedAt: at(0),
  seenAt: at(seen),
  stoppedAt: stopped ? at(seen) : null,
  parts: [engine(finding)],
});

const NOW = at(100);

const WORST: readonly (readonly [string, readonly ReplicaReport[], Finding | undefined])[] = [
  ['nobody reports', [], undefined],
  ['all are well', [report('a', 99), report('b', 98)], ready],
  ['no result yet', [report('a', 99, testing), report('b', 98, testing)], testing],
  ['one knows, and one does not know yet', [report('a', 99, testing), report('b', 98)], ready],
  ['one is not well, and one does not know yet', [report('a', 99, testing), report('b', 98, silent)], silent],
  ['one is not well', [report('a', 99), report('b', 98, silent)], silent],
  ['the worst counts', [report('a', 99, gone), report('b', 98, silent)], gone],
  ['a report at its limit counts', [report('a', 99), report('b', 70, silent)], silent],
  ['an old report says nothing', [report('a', 99), report('b', 69, silent)], ready],
  ['a stopped process says nothing', [report('a', 99), report('b', 99, silent, true)], ready],
];

for (const [name, reports, expected] of WORST) {
  t.test(`the finding when ${name}`, async (t) => {
    t.same(findingsOf(reports, NOW).get('engine'), expected);
  });
}

t.test('what a process is testing is left out of its report, and known from that', async (t) => {
  const parts = [engine(ready), { component: 'isolation', mend: null, ...testing } as const];
  t.same(reportedParts(parts), [engine(ready)]);
  const known = partsOf({ ...report('a', 99), parts: reportedParts(parts) });
  t.same(
    known.map(({ component, state }) => [component, state]),
    [
      ['engine', 'ready'],
      ['image', 'testing'],
      ['disk', 'testing'],
      ['isolation', 'testing'],
    ],
  );
});

t.test('a process without a heartbeat for a minute is silent, a stopped one never', async (t) => {
  const now = at(160);
  const states = [report('a', 100), report('b', 99), report('c', 0, ready, true)];
  t.same(
    states.map((one) => replicaState(one, now)),
    ['running', 'silent', 'stopped'],
  );
  t.same(replicasFinding(states, now), { state: 'degraded', reason: 'silent', detail: 'no heartbeat of b' });
  t.same(replicasFinding([report('a', 100), report('c', 0, ready, true)], now), ready);
});

const lasting = (component: Component, state: Outage['state'], reason: Outage['reason']): Outage => ({
  id: component,
  component,
  state,
  reason,
  detail: null,
  from: at(0),
  to: null,
});
const open = lasting('engine', 'degraded', 'unreachable');

const CHANGES: readonly (readonly [string, readonly Outage[], Finding | null, string[], string[]])[] = [
  ['ready stays ready', [], ready, [], []],
  ['a fault begins an outage', [], silent, [], ['unreachable']],
  ['the same fault changes nothing', [open], silent, [], []],
  ['another fault ends the one and begins the other', [open], gone, ['engine'], ['missing']],
  ['ready ends it', [open], ready, ['engine'], []],
  ['a test begins none', [], testing, [], []],
  ['a test ends none', [open], testing, [], []],
  ['without a finding it stays', [open], null, [], []],
  ['of another component it stays', [lasting('disk', 'degraded', 'unenforced')], ready, [], []],
];

for (const [name, outages, finding, ended, begun] of CHANGES) {
  t.test(`outages: ${name}`, async (t) => {
    const findings = new Map<Component, Finding>(finding === null ? [] : [['engine', finding]]);
    const changes = outageChanges(outages, findings);
    t.same(valuesOf(changes.ended, 'id'), ended);
    t.same(valuesOf(changes.begun, 'reason'), begun);
  });
}

const ABSENCES: readonly (readonly [string, readonly ReplicaReport[], number, object | null])[] = [
  ['the first start of all', [], 100, null],
  ['a quick restart', [report('a', 86)], 100, null],
  ['a kill', [report('a', 85)], 100, { reason: 'not_running', from: at(85), to: at(100) }],
  ['a stop', [report('a', 50, ready, true)], 100, { reason: 'stopped', from: at(50), to: at(100) }],
  ['another process ran on', [report('a', 50), report('b', 99)], 100, null],
  [
    'the last of two',
    [report('a', 50), report('b', 60, ready, true)],
    100,
    { reason: 'stopped', from: at(60) },
  ],
];

for (const [name, reports, started, expected] of ABSENCES) {
  t.test(`the time without the service: ${name}`, async (t) => {
    const absence = absenceBefore(reports, at(started));
    if (expected === null) t.equal(absence, null);
    else t.match(absence, { component: 'service', state: 'down', ...expected });
  });
}
