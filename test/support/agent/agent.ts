import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import { type AgentOptions, runAgent } from '../../../src/agent/run-agent.ts';
import { hostUser } from '../../../src/agent/user-environment.ts';
import { aFolder } from '../folder.ts';
import { waitFor } from '../patience.ts';
import { type TestService, testService } from './service.ts';

export type RunningAgent = {
  readonly service: TestService;
  readonly said: string[];
  readonly home: string;
  /** Its exit code, once it has ended. */
  readonly ended: Promise<number>;
  readonly end: () => void;
};

/** An agent in this process, and a service that it does not reach yet. */
export async function unconnectedAgent(t: Test, service: TestService, over: Partial<AgentOptions> = {}) {
  const said: string[] = [];
  const controller = new AbortController();
  // a home without a profile, whose programs would be those of this machine
  const user = { ...hostUser(), home: aFolder(t), shell: '/bin/bash' };
  const ended = runAgent({
    user,
    server: service.address,
    token: 'svc_test',
    identity: { id: randomUUID(), name: 'host' },
    version: '0.0.0',
    say: (line) => said.push(line),
    signal: controller.signal,
    ...over,
  });
  const end = (): void => controller.abort();
  t.teardown(async () => {
    end();
    await ended;
  });
  return { service, said, ended, end, home: user.home };
}

/** An agent in this process, connected to a service of the test. */
export async function connectedAgent(t: Test, over: Partial<AgentOptions> = {}): Promise<RunningAgent> {
  const agent = await unconnectedAgent(t, await testService(t), over);
  await waitFor(agent.service.isConnected, { what: () => `the agent connects: ${agent.said}` });
  return agent;
}
