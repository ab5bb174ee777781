import t from 'tap';
import { CLOSE, type CloseReason } from '../../src/domain/terminal.ts';
import {
  closeAfterEnd,
  closeAfterFault,
  type EngineSight,
  mayBeContainers,
  type OpenFault,
  type StreamEnd,
} from '../../src/domain/terminal-end.ts';
import type { PlaceNow } from '../../src/domain/terminal-place.ts';

const running: PlaceNow = { state: 'running', runtimeId: 'r1', operation: null };
const stopping: PlaceNow = { ...running, state: 'stopping', operation: 'stop' };
const replaced: PlaceNow = { ...running, runtimeId: 'r2' };
const updating: PlaceNow = { ...running, state: 'updating', operation: 'update' };

const lost: StreamEnd = { kind: 'lost' };
const exited = (code: number | null): StreamEnd => ({ kind: 'exited', code });
const LONG_MS = 60_000;

type Row = PlaceNow | null | undefined;
type EndCase = readonly [
  name: string,
  end: StreamEnd,
  row: Row,
  engine: EngineSight | null,
  reason: CloseReason,
];

const ENDS: readonly EndCase[] = [
  ['the shell exits', exited(0), running, null, CLOSE.ended],
  ['the shell is killed in a container that runs', exited(137), running, 'running', CLOSE.ended],
  ['its session is ended', exited(null), running, 'running', CLOSE.ended],
  ['the container is killed behind Berth', exited(137), running, 'stopped', CLOSE.containerStopped],
  ['the container is stopped behind Berth', exited(129), running, 'stopped', CLOSE.containerStopped],
  ['the container is removed behind Berth', lost, running, 'gone', CLOSE.containerStopped],
  ['the container is paused behind Berth', lost, running, 'paused', CLOSE.containerStopped],
  ['the engine crashes', lost, running, 'silent', CLOSE.detached],
  ['the engine has come back', lost, running, 'running', CLOSE.detached],
  ['the shell exits and the engine crashes', exited(137), running, 'silent', CLOSE.ended],
  ['the container is stopped by Berth', exited(129), stopping, 'running', CLOSE.containerStopped],
  ['the container was made anew', lost, replaced, 'gone', CLOSE.containerRestarted],
  ['the container is updated', exited(129), updating, 'stopped', CLOSE.containerRestarted],
  ['the container is deleted', lost, null, 'gone', CLOSE.containerDeleted],
  ['the database is silent, and the container runs', exited(0), undefined, null, CLOSE.ended],
  ['the database is silent, and the container does not run', lost, undefined, 'gone', CLOSE.containerStopped],
  ['the database and the engine are silent', lost, undefined, 'silent', CLOSE.detached],
];

t.test('what the client is told when', async (t) => {
  for (const [name, end, row, engine, reason] of ENDS)
    t.same(closeAfterEnd({ ...end, ranMs: LONG_MS }, row, 'r1', engine), reason, name);
});

t.test('a shell whose end nobody saw within a second has not begun', async (t) => {
  const after = (end: StreamEnd, ranMs: number, engine: EngineSight = 'running'): CloseReason =>
    closeAfterEnd({ ...end, ranMs }, running, 'r1', engine);
  t.same(after(exited(null), 999), CLOSE.notOpened);
  t.same(after(exited(null), 1_000), CLOSE.ended);
  t.same(after(exited(1), 5), CLOSE.ended, 'a program that has ended by itself has');
  t.same(after(exited(null), 5, 'stopped'), CLOSE.containerStopped);
});

t.test('the engine is asked where the container may have ended the program', async (t) => {
  for (const end of [lost, exited(null), exited(129), exited(137), exited(143)])
    t.equal(mayBeContainers(end), true, JSON.stringify(end));
  // 130 is what a shell returns whose last program was ended with Ctrl-C.
  for (const code of [0, 1, 127, 130]) t.equal(mayBeContainers(exited(code)), false, `code ${code}`);
});

type FaultCase = readonly [
  name: string,
  fault: OpenFault,
  row: Row,
  engine: EngineSight,
  reason: CloseReason,
];

const FAULTS: readonly FaultCase[] = [
  ['no process is free', 'no_processes', running, 'running', CLOSE.tooManyProcesses],
  ['no process starts in the container', 'unresponsive', running, 'running', CLOSE.unresponsive],
  ['something else fails', 'other', running, 'running', CLOSE.notOpened],
  ['the database does not answer', 'storage', undefined, 'running', CLOSE.tryAgainLater],
  ['it did not, and the container is being stopped', 'storage', stopping, 'running', CLOSE.containerStopped],
  ['the engine is silent', 'other', running, 'silent', CLOSE.notOpened],
  ['the container ended behind Berth', 'other', running, 'stopped', CLOSE.containerStopped],
  ['the container was removed behind Berth', 'other', running, 'gone', CLOSE.containerStopped],
  ['the container is paused', 'other', running, 'paused', CLOSE.containerStopped],
  ['a full container is being stopped', 'no_processes', stopping, 'running', CLOSE.containerStopped],
  ['the database is silent', 'no_processes', undefined, 'running', CLOSE.tooManyProcesses],
];

t.test('what the client is told whose terminal does not open, when', async (t) => {
  for (const [name, fault, row, engine, reason] of FAULTS)
    t.same(closeAfterFault(fault, row, 'r1', engine), reason, name);
});
