import { script } from '@bomb.sh/tab';
import { bashScript } from './bash-script.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

const NAME = 'berth';

/** The library's script, but for bash: there it evaluates what has been typed, and needs another package. */
export const scriptFor = (shell: Shell): string => (shell === 'bash' ? bashScript(NAME) : printed(shell));

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
