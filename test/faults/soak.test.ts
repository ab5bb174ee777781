import t from 'tap';
import { soak } from '../support/process/soak.ts';

/** Between two kills, so that each comes in the middle of changes. */
const CHANGES = 5;
const CONTAINERS = 2;

t.setTimeout(600_000);
t.test('changes go on while a replica is killed, and then both at once', (t) =>
  soak(t, CONTAINERS, async ({ replicas: [one, other], changes, kill }) => {
    for (const which of [[one], [one, other]]) {
      await changes(CHANGES);
      await kill(...which);
    }
    await changes(CHANGES);
  }),
);
