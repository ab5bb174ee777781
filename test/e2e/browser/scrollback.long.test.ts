import t from 'tap';
import { scrollbackRuns } from '../../support/browser/scrollback.ts';

t.setTimeout(3_600_000);

const RUNS = Number(process.env['SCROLLBACK_RUNS'] ?? 5);

await t.test('inside tmux the scrollback is what the program wrote', (t) => scrollbackRuns(t, RUNS, true));
await t.test('in a plain shell the scrollback is what the program wrote', (t) =>
  scrollbackRuns(t, RUNS, false),
);
