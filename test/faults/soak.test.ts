import t from 'tap';
import { soak } from '../support/soak.ts';

/** Between two kills, so that each comes in the middle of changes. */
const CHANGES = 8;

t.setTimeout(600_000);
t.test('changes go on while each of two replicas is killed, and then both at once', (t) =>
  soak(t, async ({ replicas: [one, other], changes, kill }) => {
    for (const which of [[one], [other], [one, other]]) {
      await changes(CHANGES);
      await kill(...which);
    }
    await changes(CHANGES);
  }),
);
