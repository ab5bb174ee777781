import t from 'tap';
import { scrollbackRuns } from '../../support/browser/scrollback.ts';

await t.test('inside tmux the scrollback is what the program wrote', (t) => scrollbackRuns(t, 1, true));
await t.test('in a plain shell the scrollback is what the program wrote', (t) => scrollbackRuns(t, 1, false));
