import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { Resources } from '../../../domain/containers/resources.ts';
import { ContainerNotRunning, RuntimeFailure } from '../../../ports/containers/container-runtime.ts';
import { DB_ID_LABEL, GENERATION_LABEL, INSTANCE_LABEL } from '../../docker/engine/engine-names.ts';
import { listByPrefix } from '../client/long-list.ts';
import type { Manager } from '../client/manager.ts';
import type { Service, ServiceSpec } from '../client/objects.ts';
import {
  MEMBER_LABEL,
  NODE_LABEL,
  RESOURCES_LABEL,
  runtimeIdOf,
  SERVICE_PREFIX,
  serviceNameOf,
  VOLUME_LABEL,
} from './names.ts';
import { lastStartOf, wantsTask } from './service-spec.ts';

const Limits = Type.Object({
  memoryMb: Type.Number(),
  cpuMillicores: Type.Number(),
  diskMb: Type.Number(),
});

/** A container of this installation, as its service keeps it. It may have a task. */
export type ContainerRecord = {
  readonly runtimeId: string;
  readonly name: string;
  readonly dbId: string;
  readonly generation: number;
  readonly nodeId: string;
  readonly volume: string;
  readonly resources: Resources;
  /** Whether it is a member of the warm pool that no create has claimed. */
  readonly isMember: boolean;
  readonly service: Service;
};

/** What a list says of a container; a long list does not keep the specifications. */
export type ListedRecord = Omit<ContainerRecord, 'service'> & {
  /** Whether its service asks for a task. */
  readonly wantsTask: boolean;
  readonly runningTasks: number;
  /** `ForceUpdate`: tells the tasks of one start from another's. */
  readonly starts: number;
};

export type Records = ReturnType<typeof containerRecords>;

/** Returns a reader of services whose names continue with some digits. `instanceId`: null for all installations. */
export const servicesOf =
  (manager: Manager, instanceId: string | null) =>
  (digits: string): Promise<readonly Service[]> =>
    manager.services({ [INSTANCE_LABEL]: instanceId }, SERVICE_PREFIX + digits);

/** The containers of one installation as services, one each. */
export function containerRecords(manager: Manager, instanceId: string) {
  async function find(runtimeId: string): Promise<ContainerRecord | null> {
    const service = await manager.service(serviceNameOf(runtimeId));
    if (service === null) return null;
    const record = recordOf(service, instanceId);
    if (record?.runtimeId === runtimeId) return record;
    throw new RuntimeFailure(`the service ${service.Spec.Name} does not belong to this installation`);
  }

  const read = servicesOf(manager, instanceId);
  const listAll = listByPrefix(async (digits) => {
    const services = await read(digits);
    return services.flatMap((service) => {
      const record = recordOf(service, instanceId);
      return record === null ? [] : [listedOf(record)];
    });
  });

  return {
    find,
    async require(runtimeId: string): Promise<ContainerRecord> {
      const found = await find(runtimeId);
      if (found === null) throw new ContainerNotRunning(`no such container: ${runtimeId}`, true);
      return found;
    },
    /** Of all containers. */
    list: (): Promise<readonly ListedRecord[]> => listAll(),
    /** Its next start gives it these limits. */
    resize: ({ name }: ContainerRecord, resources: Resources): Promise<boolean> =>
      manager.updateService(name, (spec) => withLimits(spec, resources)),
    /** True for the first caller alone: an update of a service that has changed since is refused. */
    async claim({ name }: ContainerRecord): Promise<boolean> {
      let isFirst = false;
      const exists = await manager.updateService(name, (spec) => {
        isFirst = MEMBER_LABEL in (spec.Labels ?? {});
        return isFirst ? withoutMember(spec) : null;
      });
      return exists && isFirst;
    },
    /** Whether any container, running or not, has this volume. */
    async useVolume(volume: string): Promise<boolean> {
      return (await manager.services({ [INSTANCE_LABEL]: instanceId, [VOLUME_LABEL]: volume })).length > 0;
    },
  };
}

const listedOf = ({ service, ...record }: ContainerRecord): ListedRecord => ({
  ...record,
  wantsTask: wantsTask(service.Spec),
  runningTasks: service.ServiceStatus?.RunningTasks ?? 0,
  starts: lastStartOf(service.Spec),
});

/** Labels of a service are no part of its tasks, which therefore stay. */
const withLimits = (spec: ServiceSpec, resources: Resources): ServiceSpec => ({
  ...spec,
  Labels: { ...spec.Labels, [RESOURCES_LABEL]: JSON.stringify(resources) },
});

function withoutMember(spec: ServiceSpec): ServiceSpec {
  const { [MEMBER_LABEL]: _, ...Labels } = spec.Labels ?? {};
  return { ...spec, Labels };
}

/** null when it was changed from outside. */
function limitsIn(label = 'null'): Resources | null {
  try {
    const limits: unknown = JSON.parse(label);
    return Value.Check(Limits, limits) ? limits : null;
  } catch {
    return null;
  }
}

/** null for a service of others, or one that was changed from outside. */
function recordOf(service: Service, instanceId: string): ContainerRecord | null {
  const { Name: name, Labels = {} } = service.Spec;
  const [dbId, generation] = [Labels[DB_ID_LABEL] ?? '', Number(Labels[GENERATION_LABEL])];
  const runtimeId = runtimeIdOf(instanceId, dbId, generation);
  const resources = limitsIn(Labels[RESOURCES_LABEL]);
  if (serviceNameOf(runtimeId) !== name || resources === null) return null;
  const [nodeId, volume] = [Labels[NODE_LABEL] ?? '', Labels[VOLUME_LABEL] ?? ''];
  const isMember = MEMBER_LABEL in Labels;
  return { runtimeId, name, dbId, generation, nodeId, volume, resources, isMember, service };
}
