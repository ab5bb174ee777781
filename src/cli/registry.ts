import { create } from './commands/containers/create.ts';
import { ls } from './commands/containers/ls.ts';
import { restore } from './commands/containers/restore.ts';
import { rm } from './commands/containers/rm.ts';
import { set } from './commands/containers/set.ts';
import { start } from './commands/containers/start.ts';
import { stats } from './commands/containers/stats.ts';
import { stop } from './commands/containers/stop.ts';
import { login } from './commands/identity/login.ts';
import { logout } from './commands/identity/logout.ts';
import { sessions } from './commands/identity/sessions.ts';
import { tokens } from './commands/identity/tokens.ts';
import { whoami } from './commands/identity/whoami.ts';
import { audit } from './commands/service/audit.ts';
import { completion } from './commands/service/completion.ts';
import { migrate } from './commands/service/migrate.ts';
import type { AnyCommand } from './options.ts';

type Wing = readonly (() => AnyCommand)[];

/** Every command, by the heading of the help that lists it. A new one is a file in `commands` and a name here. */
export const WINGS: Readonly<Record<string, Wing>> = {
  'Your sign-in': [login, logout, whoami, sessions, tokens],
  Containers: [ls, create, start, stop, rm, restore, set, stats],
  Terminals: [],
  'The service': [audit, completion, migrate],
};
