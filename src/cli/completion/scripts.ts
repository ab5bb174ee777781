import { bashScript } from './bash-script.ts';
import { fishScript } from './fish-script.ts';
import { zshScript } from './zsh-script.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

const NAME = 'berth';

/** Not the library's: in bash and zsh they evaluate what has been typed. */
const SCRIPTS: { readonly [S in Shell]: (name: string) => string } = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

export const scriptFor = (shell: Shell): string => SCRIPTS[shell](NAME);
