import { script } from '@bomb.sh/tab';
import { bashScript } from './bash-script.ts';
import { zshScript } from './zsh-script.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

const NAME = 'berth';

/** The library's script for fish alone: in bash and zsh its scripts evaluate what has been typed. */
export const scriptFor = (shell: Shell): string => {
  switch (shell) {
    case 'bash':
      return bashScript(NAME);
    case 'zsh':
      return zshScript(NAME);
    case 'fish':
      return printed(shell);
  }
};

/** The library only prints. */
function printed(shell: Shell): string {
  const { log } = console;
  const lines: string[] = [];
  console.log = (line: string) => lines.push(line);
  try {
    script(shell, NAME, NAME);
  } finally {
    console.log = log;
  }
  return lines.join('\n');
}
