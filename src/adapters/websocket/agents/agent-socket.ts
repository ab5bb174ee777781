import { type Static, Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import type { RawData, WebSocket } from 'ws';
import type { Agents } from '../../../app/containers/agents/agents.ts';
import type { ConnectedAgent } from '../../../app/containers/agents/connect-agent.ts';
import type { AuthorizedConnections } from '../../../app/identity/auth/authorized-connections.ts';
import { Refusal } from '../../../domain/errors.ts';
import { authorize, type Caller, type RequestOrigin, reaches } from '../../../domain/identity/caller.ts';
import type { AgentLine } from '../../../ports/containers/agents/agent-lines.ts';
import type { Logger } from '../../../ports/logger.ts';
import { type Greeting, readGreeting } from '../../../protocol/agent/index.ts';
import { AGENT_PROTOCOL } from '../../../protocol/subprotocols.ts';
import { keepAlive } from '../heartbeat.ts';
import { plainRequest } from '../upgrade-required.ts';
import { type SocketLine, socketLine } from './socket-line.ts';

/** Time for the greeting, and its longest form. */
const GREETING_WITHIN_MS = 10_000;
const MAX_GREETING_BYTES = 65_536;

/** What continues the sessions of agents over their sockets. */
export type AgentSessions = {
  attach(
    line: AgentLine,
    socket: SocketLine,
    greeting: Greeting,
  ): { receive(bytes: Uint8Array): void; drained(): void; gone(): void };
};

export type AgentSocketDeps = {
  readonly agents: Pick<Agents, 'admit' | 'connect' | 'mayStay' | 'lost'>;
  readonly sessions: AgentSessions;
  readonly live: AuthorizedConnections;
  readonly log: Logger;
};

const SCOPE = 'write';

const AgentQuery = Type.Object(
  { agent: Type.String({ description: 'The UUID that the machine made for itself.', maxLength: 64 }) },
  { additionalProperties: false },
);

/** GET /api/agents/connect: refusals are plain HTTP before the upgrade; then the line of an agent. */
export function agentSocket(http: FastifyInstance, deps: AgentSocketDeps): void {
  http.route<{ Querystring: Static<typeof AgentQuery> }>({
    method: 'GET',
    url: '/api/agents/connect',
    config: {
      scope: SCOPE,
      forRestricted: true,
      subprotocol: AGENT_PROTOCOL,
      lasting: 'event_sockets',
      failure: 'failed to connect the agent',
    },
    schema: {
      operationId: 'agents.connect',
      summary: 'Connect a machine as an agent',
      refusals: ['address_full', 'guest_session_expired', 'agent_limit_reached', 'not_authorized'],
      querystring: AgentQuery,
    },
    preHandler: async ({ query: { agent }, caller }) => {
      if (!isMachines(caller, agent)) throw new Refusal({ code: 'not_authorized' });
      const admitted = await deps.agents.admit(agent, caller);
      if (!admitted.ok) throw new Refusal(admitted.error);
    },
    handler: plainRequest,
    wsHandler: (socket, request) => {
      const { caller, origin } = request;
      serve(socket, { caller, origin, machineId: request.query.agent }, deps).catch((err: unknown) => {
        deps.log.error({ err }, 'an agent could not connect');
        socket.close(1011, 'failed to connect the agent');
      });
    },
  });
}

/** A token that is limited to some containers serves only machines among them. */
const isMachines = (caller: Caller, agent: string): boolean => reaches(caller, agent.toLowerCase());

type Applicant = { readonly caller: Caller; readonly origin: RequestOrigin; readonly machineId: string };

async function serve(
  socket: WebSocket,
  { caller, origin, machineId }: Applicant,
  { agents, sessions, live, log }: AgentSocketDeps,
): Promise<void> {
  socket.on('error', (error) => log.info({ err: error }, 'the socket of an agent failed'));
  const line = socketLine(socket, () => attached?.drained());
  let attached: ReturnType<AgentSessions['attach']> | null = null;
  const registration = live.register({
    caller,
    mayStay: (now) => authorize(now, SCOPE).ok && agents.mayStay(now),
    close: () => line.close('unauthorized'),
  });
  const closed = new Promise<null>((resolve) => socket.once('close', () => resolve(null)));
  void closed.then(registration.end);
  const greeting = await greetingOf(socket, line, closed);
  if (greeting === null) return;
  // Nothing is read until the connection is on record.
  socket.pause();
  const connected = await record(agents, greeting, { caller, origin, machineId });
  if (connected === null || socket.readyState !== socket.OPEN) {
    line.close('ended');
    if (connected !== null) await agents.lost(connected);
    return;
  }
  const attachment = sessions.attach(connected, line, greeting);
  attached = attachment;
  socket.on('message', (data, isBinary) =>
    attachment.receive(isBinary ? (data as Buffer) : new Uint8Array()),
  );
  keepAlive(socket, () => {});
  void closed.then(async () => {
    attachment.gone();
    await agents.lost(connected).catch((err: unknown) => log.warn({ err }, 'could not record a lost agent'));
  });
  socket.resume();
}

/** null for a user whose agents are at their limit by now: the next attempt is refused in plain HTTP. */
async function record(
  agents: AgentSocketDeps['agents'],
  { agent }: Greeting,
  { caller, origin, machineId }: Applicant,
): Promise<ConnectedAgent | null> {
  const platform = `${agent.platform} ${agent.arch}`;
  const connected = await agents.connect({ machineId, name: agent.name, platform }, caller, origin);
  return connected.ok ? connected.value : null;
}

/** The first message; null when it is malformed or does not come in time, or the socket closes. */
async function greetingOf(
  socket: WebSocket,
  line: SocketLine,
  closed: Promise<null>,
): Promise<Greeting | null> {
  const timer = setTimeout(() => line.close('protocol'), GREETING_WITHIN_MS);
  const first = new Promise<Buffer>((resolve) =>
    socket.once('message', (data: RawData) => resolve(data as Buffer)),
  );
  const bytes = await Promise.race([first, closed]).finally(() => clearTimeout(timer));
  const greeting = bytes === null || bytes.length > MAX_GREETING_BYTES ? null : readGreeting(bytes);
  if (greeting?.ok) return greeting.value;
  line.close('protocol');
  return null;
}
