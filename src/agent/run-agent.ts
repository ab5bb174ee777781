import { arch, hostname, platform } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentDescription } from '../protocol/agent/index.ts';
import { connection } from './connection/connection.ts';
import { type ConnectionEnd, nextTry } from './connection/next-try.ts';
import { ServiceSession } from './connection/service-session.ts';
import { hostChannels } from './host-channels.ts';
import type { Identity } from './identity/state-file.ts';
import { ShellStore } from './shells/shell-store.ts';
import { type HostUser, hostUser } from './user-environment.ts';

export type AgentOptions = {
  readonly server: string;
  readonly token: string;
  readonly identity: Identity;
  readonly version: string;
  /** Whose shells it offers: the user who runs it. */
  readonly user?: HostUser;
  /** One line for a person or a log. It never has the token. */
  readonly say: (line: string) => void;
  /** Aborted when the agent is to end. */
  readonly signal: AbortSignal;
  /** How long the session and its shells outlive the connection. */
  readonly keptMs?: number;
};

/** A connection that lasted this long has worked: the next delay is short again. */
const STEADY_MS = 5_000;

/** Serves this host until the signal, or until the service refuses it for good. Returns the exit code. */
export async function runAgent(options: AgentOptions): Promise<number> {
  const { server, token, identity, say, signal, keptMs, user = hostUser() } = options;
  const shells = new ShellStore(user, keptMs);
  const session = new ServiceSession({
    agent: descriptionOf(options, user),
    opened: hostChannels(user, shells),
    expired: () => {
      say('the service was away for too long: all shells are ended');
      void shells.endAll();
    },
    ...(keptMs === undefined ? {} : { keptMs }),
  });
  const connected = (resumed: boolean): void => {
    connectedMs = performance.now();
    say(`connected to ${server} as "${identity.name}"${resumed ? ', where it left off' : ''}`);
  };
  let failures = 0;
  let connectedMs: number | null = null;
  while (!signal.aborted) {
    const end = await connection({ server, token, agentId: identity.id, session, connected, signal });
    if (signal.aborted) break;
    // a service that accepts agents and closes at once is asked less and less often
    if (connectedMs !== null && performance.now() - connectedMs >= STEADY_MS) failures = 0;
    connectedMs = null;
    const next = nextTry(end, failures++, Math.random());
    if (next.kind === 'end') {
      await shells.endAll();
      say(next.words);
      return next.exitCode;
    }
    say(`${wordsOf(end)}; trying again in ${(next.delayMs / 1_000).toFixed(1)} s`);
    await sleep(next.delayMs, undefined, { signal }).catch(() => {});
  }
  await shells.endAll();
  return 0;
}

const descriptionOf = ({ identity, version }: AgentOptions, user: HostUser): AgentDescription => ({
  id: identity.id,
  name: identity.name,
  version,
  hostname: hostname().slice(0, 255),
  platform: platform(),
  arch: arch(),
  user: user.name.slice(0, 255),
  home: user.home.slice(0, 4_096),
});

function wordsOf(end: ConnectionEnd): string {
  switch (end.kind) {
    case 'refused':
      return `not connected: ${end.words} (${end.status})`;
    case 'closed':
      return `disconnected: ${end.reason}${end.words === '' ? '' : ` (${end.words})`}`;
    case 'broken':
      return `no connection: ${end.words}`;
  }
}
