import t from 'tap';
import { leavesNothing } from '../../support/process/first-start.ts';

t.setTimeout(900_000);

t.test('SIGTERM during a first start leaves nothing', { timeout: 900_000 }, (t) =>
  leavesNothing(t, ['database', 'engine', 'image']),
);
