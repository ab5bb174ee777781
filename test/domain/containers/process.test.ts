import t from 'tap';
import {
  type ContainerProcess,
  type EndReason,
  observationOf,
  observed,
  type ProcessObservation,
  type ProcessState,
  START_SECONDS,
} from '../../../src/domain/containers/processes/process.ts';
import { defaultName, processFaults } from '../../../src/domain/containers/processes/process-request.ts';
import { signalOfExit } from '../../../src/domain/containers/processes/signals.ts';

const startedAt = new Date('2026-01-01T00:00:00.700Z');
const now = new Date('2026-01-01T00:00:30Z');
const later = new Date(startedAt.getTime() + START_SECONDS * 1000);

const starting: ProcessState = { kind: 'starting' };
const running: ProcessState = { kind: 'running', pid: 7 };
const ended = (by: EndReason, exitCode: number | null = null, at = now): ProcessState => ({
  kind: 'ended',
  pid: 7,
  endedAt: at,
  by,
  exitCode,
});
const unstarted = (by: EndReason, at = now) => ({ ...ended(by, null, at), pid: null }) as ProcessState;
const exits = (exitCode: number, isTimedOut = false, at = now): ProcessObservation => ({
  kind: 'exited',
  exitCode,
  isTimedOut,
  at,
});
const seen: ProcessObservation = { kind: 'running', pid: 7 };
const [lost, absent, stopped] = [{ kind: 'lost' }, { kind: 'absent' }, { kind: 'stopped' }] as const;

t.test('a state follows from what the container shows', async (t) => {
  const cases: [ProcessState, ProcessObservation, ProcessState | null][] = [
    [starting, seen, running],
    [starting, exits(0), { ...ended('exit', 0), pid: null } as ProcessState],
    [starting, absent, null],
    [starting, stopped, unstarted('container_stopped')],
    [running, seen, null],
    [running, exits(0), ended('exit', 0)],
    [running, exits(130), ended('signal', 130)],
    [running, exits(255), ended('exit', 255)],
    [running, exits(143, true), ended('timeout', 143)],
    [running, exits(0, false, new Date('2026-01-01T00:00:00Z')), ended('exit', 0, startedAt)],
    [running, lost, ended('lost')],
    [running, absent, ended('lost')],
    [running, stopped, ended('container_stopped')],
    [ended('exit', 3), seen, null],
    [ended('exit', 3), exits(0), null],
    [ended('exit', 3), stopped, null],
    [ended('lost'), seen, running],
    [ended('lost'), exits(2), ended('exit', 2)],
    [ended('lost'), stopped, null],
    [ended('not_started'), seen, running],
    [ended('container_stopped'), seen, running],
    [ended('container_stopped'), exits(143), null],
  ];
  for (const [state, observation, expected] of cases)
    t.same(
      observed({ state, startedAt }, observation, now),
      expected,
      `${JSON.stringify(state)} ${observation.kind}`,
    );
  const overdue = observed({ state: starting, startedAt }, absent, later);
  t.same(overdue, unstarted('not_started', later), 'a start takes a minute at most');
});

t.test('the container decides what is believed', async (t) => {
  const process = { id: 'a', runtimeId: 'r1', startedAt } as ContainerProcess;
  const box = { state: 'running', runtimeId: 'r1', startedAt: null } as const;
  const restarted = { ...box, startedAt: now };
  const knows = (observation: ProcessObservation) => new Map([['a', observation]]);
  const cases: [string, Parameters<typeof observationOf>[1], ReturnType<typeof knows> | null, unknown][] = [
    ['it runs', box, knows(seen), seen],
    ['it is not known', box, new Map(), absent],
    ['nobody asked', box, null, null],
    ['the container stopped', { ...box, state: 'stopped' }, knows(seen), stopped],
    ['the container changes', { ...box, state: 'updating' }, knows(seen), null],
    ['it is another container', { ...box, runtimeId: 'r2' }, knows(seen), stopped],
    ['the container was restarted', restarted, knows(lost), stopped],
    ['it was started before and seen to end', restarted, knows(exits(0)), exits(0)],
  ];
  for (const [what, container, known, expected] of cases)
    t.same(observationOf(process, container, known), expected, what);
});

t.test('signals are named by the exit codes of shells', async (t) => {
  for (const [code, signal] of [
    [0, null],
    [127, null],
    [128, null],
    [130, 'INT'],
    [137, 'KILL'],
    [143, 'TERM'],
    [255, null],
  ] as const)
    t.equal(signalOfExit(code), signal, String(code));
});

t.test('names', async (t) => {
  for (const [command, name] of [
    [['/usr/bin/npm', 'run'], 'npm'],
    [['./a b'], 'a-b'],
    [['..'], 'process'],
    [['/'], 'process'],
    [['x'.repeat(99)], 'x'.repeat(64)],
  ] as const)
    t.equal(defaultName(command), name);
  const order = { command: ['true'], env: {} } as unknown as Parameters<typeof processFaults>[0];
  for (const name of ['-x', '', 'a b', 'x'.repeat(65)]) t.ok('name' in processFaults(order, name), name);
  for (const name of [null, 'web', 'a.b_c-1']) t.same(processFaults(order, name), {});
});
