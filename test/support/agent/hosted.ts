import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import pino from 'pino';
import type { Test } from 'tap';
import { type WebSocket, WebSocketServer } from 'ws';
import { AgentHub, type AgentPorts, agentPorts } from '../../../src/adapters/agents/index.ts';
import { socketLine } from '../../../src/adapters/websocket/agents/socket-line.ts';
import { runAgent } from '../../../src/agent/run-agent.ts';
import { hostUser } from '../../../src/agent/user-environment.ts';
import { AGENT_NODE } from '../../../src/domain/containers/agents/agent.ts';
import type { RuntimeHandle } from '../../../src/ports/containers/container-runtime.ts';
import { readGreeting } from '../../../src/protocol/agent/index.ts';
import { shellIn } from '../engine/container.ts';
import { aFolder } from '../folder.ts';
import { waitFor } from '../patience.ts';

export type HostedAgent = {
  readonly ports: AgentPorts;
  readonly hub: AgentHub;
  readonly handle: RuntimeHandle;
  readonly home: string;
  readonly sh: (script: string) => Promise<string>;
  /** Breaks the connection; the agent comes back by itself. */
  readonly cut: () => void;
};

/** The agent's program in this process, with a home of its own, and the service's adapters at the other end. */
export async function hostedAgent(t: Test, requestsKeptMs?: number): Promise<HostedAgent> {
  const hub = new AgentHub(pino({ level: 'silent' }), requestsKeptMs);
  const dbId = randomUUID();
  const handle = { node: AGENT_NODE, runtimeId: `agent:${dbId}` };
  let epoch = 0;
  let last: WebSocket | null = null;
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
  server.on('connection', (socket) => {
    last = socket;
    epoch += 1;
    const line = socketLine(socket, () => attached?.drained());
    let attached: ReturnType<AgentHub['attach']> | null = null;
    socket.on('error', () => {});
    socket.once('close', () => attached?.gone());
    socket.on('message', (data) => {
      if (attached !== null) return attached.receive(data as Buffer);
      const greeting = readGreeting(data as Buffer);
      if (greeting.ok) attached = hub.attach({ dbId, epoch }, line, greeting.value);
    });
  });
  if (server.address() === null) await once(server, 'listening');
  const ended = new AbortController();
  const home = aFolder(t);
  const over = runAgent({
    user: { ...hostUser(), home, shell: '/bin/bash' },
    server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: 'svc_test',
    identity: { id: randomUUID(), name: 'host' },
    version: '0.0.0',
    say: () => {},
    signal: ended.signal,
  });
  t.teardown(async () => {
    ended.abort();
    await over;
    for (const client of server.clients) client.terminate();
    server.close();
  });
  await waitFor(() => hub.isHere(dbId), { what: () => 'the agent connects' });
  const ports = agentPorts(hub, new Date());
  return { ports, hub, handle, home, sh: shellIn(ports.commands, handle), cut: () => last?.terminate() };
}
