import os from 'node:os';
import path from 'node:path';

/** The folder for what the command may lose: `$XDG_STATE_HOME/berth`. */
export const stateFolder = (env: Readonly<Record<string, string | undefined>>): string =>
  path.join(env['XDG_STATE_HOME'] || path.join(env['HOME'] || os.homedir(), '.local', 'state'), 'berth');
