import t from 'tap';
import { CLOSE, type CloseReason } from '../../src/domain/terminal.ts';
import { closeAs, closeFor, downFor, type PlaceNow } from '../../src/domain/terminal-place.ts';

const running: PlaceNow = { state: 'running', runtimeId: 'r1', operation: null };

type Case = readonly [
  name: string,
  now: PlaceNow | null,
  close: CloseReason | null,
  down: CloseReason | null,
];

const CASES: readonly Case[] = [
  ['runs', running, null, null],
  ['is updated', { ...running, state: 'updating', operation: 'update' }, null, CLOSE.containerRestarted],
  ['was made anew', { ...running, runtimeId: 'r2' }, CLOSE.containerRestarted, CLOSE.containerRestarted],
  [
    'is being stopped',
    { ...running, state: 'stopping', operation: 'stop' },
    CLOSE.containerStopped,
    CLOSE.containerStopped,
  ],
  [
    'is stopped for its disk',
    { ...running, state: 'stopping' },
    CLOSE.containerStopped,
    CLOSE.containerStopped,
  ],
  ['is stopped', { ...running, state: 'stopped' }, CLOSE.containerStopped, CLOSE.containerStopped],
  ['has failed', { ...running, state: 'failed' }, CLOSE.containerStopped, CLOSE.containerStopped],
  ['is being deleted', { ...running, state: 'stopping', operation: 'delete' }, null, CLOSE.containerDeleted],
  ['is deleted', { ...running, state: 'deleted' }, CLOSE.containerDeleted, CLOSE.containerDeleted],
  ['is unknown', null, CLOSE.containerDeleted, CLOSE.containerDeleted],
];

t.test('what becomes of terminals in a container that', async (t) => {
  for (const [name, now, close, down] of CASES) {
    t.same([closeFor(now, 'r1'), downFor(now, 'r1')], [close, down], name);
  }
});

t.test('who takes part loses the share with the container, and its owner the container', async (t) => {
  t.equal(closeAs(CLOSE.containerDeleted, true), CLOSE.collaborationEnded);
  t.equal(closeAs(CLOSE.containerDeleted, false), CLOSE.containerDeleted);
  t.equal(closeAs(CLOSE.containerStopped, true), CLOSE.containerStopped);
});
