import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type Docker from 'dockerode';
import type { Test } from 'tap';
import { DB_ID_LABEL } from '../../../src/adapters/docker/engine/engine-names.ts';
import type { NodeName, SwarmCluster } from './cluster.ts';
import { TASK_LABEL } from './task-containers.ts';

const AGAIN_MS = 200;

type Started = {
  readonly id: string;
  readonly Action: 'start' | 'die' | 'destroy';
  readonly Actor: { readonly Attributes: Readonly<Record<string, string>> };
};

/**
 * Watches the containers of tasks on every node past the network, from outside of Berth and of the Swarm, until the test
 * ends. `faults`: each moment at which a workspace ran in two. An engine that was killed is watched again from its start.
 */
export function watchTasks(t: Pick<Test, 'teardown'>, cluster: SwarmCluster) {
  const faults: string[] = [];
  const seen = new Set<string>();
  /** The workspace of each running container, by the container's id. */
  const running = new Map<string, { readonly dbId: string; readonly node: NodeName }>();
  const began = (id: string, dbId: string, node: NodeName): void => {
    seen.add(id);
    running.set(id, { dbId, node });
    const same = [...running.values()].filter((one) => one.dbId === dbId).map((one) => one.node);
    if (same.length > 1) faults.push(`${dbId} runs ${same.length} times, on ${same.join(' and ')}`);
  };
  const stops = cluster.nodes.map(({ name }) =>
    follow(cluster.engineOf(name), {
      now: (list) => {
        const ids = new Set(list.map(({ id }) => id));
        for (const [id, { node }] of running) if (node === name && !ids.has(id)) running.delete(id);
        for (const { id, dbId } of list) if (!running.has(id)) began(id, dbId, name);
      },
      began: (id, dbId) => began(id, dbId, name),
      ended: (id) => running.delete(id),
    }),
  );
  t.teardown(() => stops.map((stop) => stop()));
  return { faults: (): readonly string[] => faults, seen: (): number => seen.size };
}

type Follower = {
  /** All that run, when the engine is watched from now on. */
  readonly now: (list: readonly { readonly id: string; readonly dbId: string }[]) => void;
  readonly began: (id: string, dbId: string) => void;
  readonly ended: (id: string) => void;
};

/** Returns what ends it. */
function follow(docker: Docker, { now, began, ended }: Follower): () => void {
  const filters = { label: [TASK_LABEL, DB_ID_LABEL] };
  let stop = (): void => {};
  let isOver = false;
  const again = (): void => void (isOver || setTimeout(() => void begin(), AGAIN_MS).unref());
  const begin = async (): Promise<void> => {
    try {
      const wanted = { ...filters, type: ['container'], event: ['start', 'die', 'destroy'] };
      const stream = (await docker.getEvents({ filters: JSON.stringify(wanted) })) as Readable;
      const over = new Set<string>();
      stop = () => stream.destroy();
      if (isOver) return stop();
      stream.once('close', again).on('error', () => {});
      const lines = createInterface({ input: stream }).on('error', () => {});
      lines.on('line', (line) => {
        const { id, Action, Actor } = JSON.parse(line) as Started;
        if (Action === 'start') began(id, Actor.Attributes[DB_ID_LABEL] ?? '');
        else {
          over.add(id);
          ended(id);
        }
      });
      const listed = await docker.listContainers({ filters });
      // The answer may be older than an event.
      const alive = listed.filter(({ Id }) => !over.has(Id));
      now(alive.map(({ Id, Labels }) => ({ id: Id, dbId: Labels[DB_ID_LABEL] ?? '' })));
    } catch {
      again();
    }
  };
  void begin();
  return () => {
    isOver = true;
    stop();
  };
}
