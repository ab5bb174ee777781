import type Docker from 'dockerode';
import type {
  ContainerObserver,
  ListedContainer,
  ObservedContainer,
  RuntimeHandle,
} from '../../../ports/containers/container-runtime.ts';
import type { EngineCalls } from '../engine/engine-client.ts';
import { watchEngine } from '../engine/engine-events.ts';
import { containersWith } from '../engine/engine-lists.ts';
import { DB_ID_LABEL, GENERATION_LABEL, INSTANCE_LABEL } from '../engine/engine-names.ts';
import { fullId } from '../engine/ownership.ts';
import { memberName } from './container-names.ts';
import { inspect, inspectNamed } from './create-container.ts';

/** The installation, and the engine's name in handles. */
type Whose = { readonly instanceId: string; readonly node: string };

/** An installation's containers on one Docker engine. */
export const dockerObserver = (calls: EngineCalls, { instanceId, node }: Whose): ContainerObserver => ({
  ping: calls.ping,
  observe: async ({ runtimeId }) => observed(await inspect(calls, fullId(runtimeId)), instanceId),
  find: (dbId, generation) => findNamed(calls, dbId, generation, { instanceId, node }),
  findMember: async (dbId) =>
    asHandle(await inspect(calls, memberName(instanceId, dbId)), { instanceId, node }),
  list: () => listOwn(calls, { instanceId, node }),
  watch: (hint) => watchEngine(calls.docker, instanceId, hint),
});

function observed(info: Docker.ContainerInspectInfo | null, instanceId: string): ObservedContainer {
  if (info === null || info.Config.Labels[INSTANCE_LABEL] !== instanceId) return { kind: 'gone' };
  const { Running, Paused, StartedAt, ExitCode } = info.State;
  if (Paused) return { kind: 'paused' };
  return Running
    ? { kind: 'running', startedAt: new Date(StartedAt) }
    : { kind: 'stopped', exitCode: ExitCode };
}

/** By engine name, which cannot be an id: names begin with `ws-`, ids are hexadecimal. */
async function findNamed(
  calls: EngineCalls,
  dbId: string,
  generation: number,
  { instanceId, node }: Whose,
): Promise<RuntimeHandle | null> {
  return asHandle(await inspectNamed(calls, instanceId, dbId, generation), { instanceId, node });
}

/** null for a container of others. */
const asHandle = (
  info: Docker.ContainerInspectInfo | null,
  { instanceId, node }: Whose,
): RuntimeHandle | null =>
  info?.Config.Labels[INSTANCE_LABEL] === instanceId ? { node, runtimeId: info.Id } : null;

async function listOwn(calls: EngineCalls, { instanceId, node }: Whose): Promise<readonly ListedContainer[]> {
  const all = await containersWith(calls, [`${INSTANCE_LABEL}=${instanceId}`]);
  return all.map(({ Id, Labels, Names, State }) => {
    const dbId = Labels[DB_ID_LABEL] ?? '';
    return {
      handle: { node, runtimeId: Id },
      dbId,
      generation: Number(Labels[GENERATION_LABEL] ?? 0),
      state: State === 'running' || State === 'paused' ? State : 'stopped',
      ...(Names.includes(`/${memberName(instanceId, dbId)}`) && { isMember: true }),
    };
  });
}
