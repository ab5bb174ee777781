import t from 'tap';
import { completes, runsNothing } from '../../support/terminal/completion.ts';

t.test('TAB completes commands, options and live container names in bash', (t) => completes(t, 'bash'));

for (const program of ['bash', 'fish', 'zsh'] as const)
  t.test(`TAB runs nothing of the line in ${program}`, (t) => runsNothing(t, program));
