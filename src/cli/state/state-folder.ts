import os from 'node:os';
import path from 'node:path';

/** Where the command keeps what it may forget: `$XDG_STATE_HOME/berth`. */
export const stateFolder = (env: Readonly<Record<string, string | undefined>>): string =>
  path.join(env['XDG_STATE_HOME'] || path.join(env['HOME'] || os.homedir(), '.local', 'state'), 'berth');
