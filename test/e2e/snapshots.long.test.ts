import t from 'tap';
import { copies } from '../support/process/snapshots.ts';

t.test('snapshots and forks of a running container, quota soft', (t) => copies(t, 'soft'));
