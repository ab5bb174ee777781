/** One engine with containers of the service, whose terminals are opened both through the service and without it. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type Docker from 'dockerode';
import { dockerTerminals } from '../../../../src/adapters/docker/terminals/terminal-backend.ts';
import type { PtyStream } from '../../../../src/ports/terminals/terminal-backend.ts';
import { administrator, type Client } from '../client.ts';
import { installation } from '../installation.ts';
import type { WholeService } from '../whole-service.ts';
import { bareLine, type Line, type ServiceAddress, serviceLine } from './line.ts';

export const SIDES = ['bare', 'berth'] as const;
export type Side = (typeof SIDES)[number];

export type Box = { readonly dbId: string; readonly runtimeId: string };

export type Scene = {
  readonly service: WholeService;
  /** Where the engine is. */
  readonly endpoint: string;
  /** For whoever opens terminals in another process. */
  readonly at: ServiceAddress;
  /** A container that runs; with a multiplexer in it or without. */
  box(name: string, options?: { readonly tmux?: boolean; readonly memoryMb?: number }): Promise<Box>;
  /** A terminal in it at its first prompt; both sides run the same command line. */
  open(side: Side, box: Box, pane?: string): Promise<Line>;
  remove(box: Box): Promise<void>;
  stop(): Promise<void>;
};

export async function aScene(): Promise<Scene> {
  const { docker, endpoint, service, stop } = await installation({ BERTH_DISK_QUOTA: 'soft' });
  try {
    const admin = await administrator(service.address, service.setupCode);
    return {
      service,
      endpoint,
      ...parts(admin, docker, { address: service.address, token: admin.token ?? '' }),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function parts(
  admin: Client,
  docker: Docker,
  at: ServiceAddress,
): Omit<Scene, 'service' | 'endpoint' | 'stop'> {
  return {
    at,
    async box(name, { tmux = false, memoryMb = 512 } = {}) {
      const resources = { memory_mb: memoryMb, cpu_shares: 1000, disk_mb: 512 };
      const made = await admin.call<{ db_id: string; id: string }>('POST', '/api/containers', {
        name,
        ...resources,
        ...(tmux ? {} : { env: { BERTH_TMUX: 'off' } }),
      });
      return { dbId: made.db_id, runtimeId: made.id };
    },
    async open(side, { dbId, runtimeId }, pane = `p${randomUUID()}`) {
      const line =
        side === 'berth'
          ? await serviceLine(at, dbId, pane)
          : bareLine(await bareTerminal(docker, runtimeId, pane));
      return await promptOf(line);
    },
    remove: async ({ dbId }) => void (await admin.call('DELETE', `/api/containers/${dbId}`)),
  };
}

/** A terminal of the engine, as the service would open it. */
export const bareTerminal = (
  docker: Docker,
  runtimeId: string,
  pane = `p${randomUUID()}`,
): Promise<PtyStream> => dockerTerminals(docker).open({ node: 'bench', runtimeId }, aRequest(pane));

/** The line, once its shell has its first prompt. */
export async function promptOf(line: Line): Promise<Line> {
  line.write('PS1="> "; echo here-$((40+2))\r');
  await line.until('here-42');
  await delay(50);
  return line;
}

const aRequest = (pane: string) => ({
  cols: 80,
  rows: 24,
  muxSession: `bare-${pane}`,
  forceNew: false,
  marker: `bench-${pane}`,
  shell: '/bin/bash',
});
