import t from 'tap';
import { leavesNothing } from '../support/process/first-start.ts';

t.test('SIGTERM during a first start leaves nothing', (t) => leavesNothing(t, ['engine']));
