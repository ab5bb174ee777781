import { admin } from './commands/admin/admin.ts';
import { create } from './commands/containers/create.ts';
import { keep } from './commands/containers/keep.ts';
import { ls } from './commands/containers/ls.ts';
import { restore } from './commands/containers/restore.ts';
import { rm } from './commands/containers/rm.ts';
import { set } from './commands/containers/set.ts';
import { start } from './commands/containers/start.ts';
import { stats } from './commands/containers/stats.ts';
import { stop } from './commands/containers/stop.ts';
import { login } from './commands/identity/login.ts';
import { logout } from './commands/identity/logout.ts';
import { profiles } from './commands/identity/profiles.ts';
import { sessions } from './commands/identity/sessions.ts';
import { tokens } from './commands/identity/tokens.ts';
import { unlock } from './commands/identity/unlock.ts';
import { whoami } from './commands/identity/whoami.ts';
import { cp } from './commands/inside/cp.ts';
import { exec } from './commands/inside/exec.ts';
import { logs } from './commands/inside/logs.ts';
import { attach } from './commands/processes/attach.ts';
import { kill } from './commands/processes/kill.ts';
import { ps } from './commands/processes/ps.ts';
import { run } from './commands/processes/run.ts';
import { agent } from './commands/service/agent.ts';
import { audit } from './commands/service/audit.ts';
import { completion } from './commands/service/completion.ts';
import { doctor } from './commands/service/doctor.ts';
import { events } from './commands/service/events.ts';
import { mcp } from './commands/service/mcp.ts';
import { migrate } from './commands/service/migrate.ts';
import { uninstall } from './commands/service/uninstall.ts';
import { useSwarm } from './commands/service/use-swarm.ts';
import { fork } from './commands/snapshots/fork.ts';
import { snapshots } from './commands/snapshots/snapshots.ts';
import { configSsh } from './commands/terminals/config-ssh.ts';
import { play } from './commands/terminals/play.ts';
import { portForward } from './commands/terminals/port-forward.ts';
import { record } from './commands/terminals/record.ts';
import { share } from './commands/terminals/share.ts';
import { shell } from './commands/terminals/shell.ts';
import { ssh } from './commands/terminals/ssh.ts';
import type { AnyCommand } from './options.ts';

type Wing = readonly (() => AnyCommand)[];

/** Every command, by the heading of the help that lists it. A new one is a file in `commands` and a name here. */
export const WINGS: Readonly<Record<string, Wing>> = {
  'Your sign-in': [login, logout, whoami, profiles, sessions, tokens, unlock],
  Containers: [ls, create, start, stop, keep, rm, restore, set, stats, snapshots, fork],
  Processes: [run, ps, attach, kill],
  'Inside a container': [exec, cp, logs],
  Terminals: [ssh, portForward, configSsh, shell, record, play, share],
  'The service': [admin, agent, audit, completion, doctor, events, mcp, migrate, uninstall, useSwarm],
};
