import t from 'tap';
import { scrollbackRuns } from '../../support/browser/scrollback.ts';

t.setTimeout(400_000);

await t.test('inside tmux the scrollback is what the program wrote', (t) => scrollbackRuns(t, 1, true));
await t.test('in a plain shell the scrollback is what the program wrote', (t) => scrollbackRuns(t, 1, false));
