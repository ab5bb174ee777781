import t from 'tap';
import { completes } from '../../support/terminal/completion.ts';

for (const program of ['fish', 'zsh'] as const)
  t.test(`TAB completes commands, options and live container names in ${program}`, (t) =>
    completes(t, program),
  );
