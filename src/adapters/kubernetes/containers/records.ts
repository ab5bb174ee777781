import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { Resources } from '../../../domain/containers/resources.ts';
import {
  ContainerNotRunning,
  type ContainerSpec,
  RuntimeFailure,
} from '../../../ports/containers/container-runtime.ts';
import { orNull } from '../client/api-failure.ts';
import type { Namespace } from '../client/namespace.ts';
import type { Bare, Secret } from '../client/objects.ts';
import {
  DB_ID_LABEL,
  GENERATION_LABEL,
  INSTANCE_LABEL,
  MEMBER_LABEL,
  OPERATION_LABEL,
  OWNER_LABEL,
  recordNameOf,
  runtimeIdOf,
  VOLUME_LABEL,
} from './names.ts';

/** A container's specification without its environment, as it is kept while no Pod exists. */
const Kept = Type.Object({
  dbId: Type.String(),
  ownerId: Type.Union([Type.String(), Type.Null()]),
  generation: Type.Integer(),
  operationId: Type.Union([Type.String(), Type.Null()]),
  image: Type.String(),
  volume: Type.String(),
  hostname: Type.String(),
  resources: Type.Object({
    memoryMb: Type.Number(),
    cpuMillicores: Type.Number(),
    diskMb: Type.Number(),
  }),
});
type Kept = Static<typeof Kept>;

/** A container of this installation, which may have a Pod. `env`: the names of its variables. */
export type ContainerRecord = {
  readonly runtimeId: string;
  readonly spec: Kept;
  readonly env: readonly string[];
  /** Whether it is a member of the warm pool that no create has claimed. */
  readonly isMember: boolean;
};

/** The key of a variable in the secret, from which the kubelet reads its value. */
export const envKey = (name: string): string => `env.${name}`;

const SPEC = 'spec';

/** Labels of a container, on its record and its Pods. */
export const labelsOf = (spec: Kept, instanceId: string): Readonly<Record<string, string>> => ({
  'app.kubernetes.io/managed-by': 'berth',
  [INSTANCE_LABEL]: instanceId,
  [DB_ID_LABEL]: spec.dbId,
  [GENERATION_LABEL]: String(spec.generation),
  ...(spec.ownerId === null ? {} : { [OWNER_LABEL]: spec.ownerId }),
  ...(spec.operationId === null ? {} : { [OPERATION_LABEL]: spec.operationId }),
});

export type Records = ReturnType<typeof containerRecords>;

/**
 * The containers of one installation as secrets, one each: a Pod goes with every stop, and the environment may have
 * passwords.
 */
export function containerRecords(namespace: Namespace, instanceId: string) {
  const isOurs = ({ metadata }: Secret): boolean => metadata.labels?.[INSTANCE_LABEL] === instanceId;

  async function find(runtimeId: string): Promise<ContainerRecord | null> {
    const secret = await namespace.get('secrets', recordNameOf(runtimeId));
    if (secret === null) return null;
    if (!isOurs(secret))
      throw new RuntimeFailure(`container ${runtimeId} does not belong to this installation`);
    return { runtimeId, ...read(secret) };
  }

  return {
    find,
    async require(runtimeId: string): Promise<ContainerRecord> {
      const found = await find(runtimeId);
      if (found === null) throw new ContainerNotRunning(`no such container: ${runtimeId}`, true);
      return found;
    },
    /** Returns the runtime id of a new container, or of one made by an earlier or concurrent attempt. */
    async create({ env, isMember, ...spec }: ContainerSpec): Promise<string> {
      const runtimeId = runtimeIdOf(instanceId, spec.dbId, spec.generation);
      const ofPool = isMember === true ? { [MEMBER_LABEL]: 'unclaimed' } : {};
      const labels = { ...labelsOf(spec, instanceId), [VOLUME_LABEL]: spec.volume, ...ofPool };
      const values = Object.entries(env).map(([name, value]) => [envKey(name), encoded(value)]);
      const body = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: recordNameOf(runtimeId), labels },
        data: { [SPEC]: encoded(JSON.stringify(spec)), ...Object.fromEntries(values) },
      };
      if ((await namespace.create('secrets', body)) === null) await find(runtimeId);
      return runtimeId;
    },
    /** Its next Pod has these limits. */
    async resize({ runtimeId, spec }: ContainerRecord, resources: Resources): Promise<void> {
      const data = { [SPEC]: encoded(JSON.stringify({ ...spec, resources })) };
      await namespace.patch('secrets', recordNameOf(runtimeId), { data });
    },
    /** True for the first caller alone: the server refuses a patch of an object that has changed since. */
    async claim(runtimeId: string): Promise<boolean> {
      for (;;) {
        const secret = await namespace.get('secrets', recordNameOf(runtimeId));
        if (secret === null || !isOurs(secret) || !isMarked(secret)) return false;
        const { resourceVersion } = secret.metadata;
        const metadata = { resourceVersion, labels: { [MEMBER_LABEL]: null } };
        if (
          (await orNull([404, 409], namespace.patch('secrets', recordNameOf(runtimeId), { metadata }))) !==
          null
        )
          return true;
      }
    },
    remove: (runtimeId: string): Promise<void> => namespace.remove('secrets', recordNameOf(runtimeId)),
    /** The names and labels of all. */
    list: () => namespace.listMetadata('secrets', `${INSTANCE_LABEL}=${instanceId},${DB_ID_LABEL}`),
    /** Whether any container, running or not, has this volume. */
    async useVolume(volume: string): Promise<boolean> {
      const selector = `${INSTANCE_LABEL}=${instanceId},${VOLUME_LABEL}=${volume}`;
      return (await namespace.listMetadata('secrets', selector)).length > 0;
    },
  };
}

/** Whether a record is that of a member whom nobody has claimed. */
export const isMarked = ({ metadata: { labels = {} } }: Bare): boolean => MEMBER_LABEL in labels;

const encoded = (text: string): string => Buffer.from(text).toString('base64');

function read({ metadata, data = {} }: Secret): Omit<ContainerRecord, 'runtimeId'> {
  const spec: unknown = JSON.parse(Buffer.from(data[SPEC] ?? 'null', 'base64').toString());
  if (!Value.Check(Kept, spec))
    throw new RuntimeFailure(`the secret ${metadata.name} was changed from outside`);
  const env = Object.keys(data).filter((key) => key !== SPEC);
  const isMember = isMarked({ metadata });
  return { spec, env: env.map((key) => key.slice(envKey('').length)), isMember };
}
