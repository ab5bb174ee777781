import { createHmac } from 'node:crypto';
import { ContainerNotRunning } from '../../../ports/containers/container-runtime.ts';

/** Marks everything of one installation; nothing without it is touched. */
export const INSTANCE_LABEL = 'berth.instance';
export const DB_ID_LABEL = 'berth.db_id';
export const GENERATION_LABEL = 'berth.generation';
export const OWNER_LABEL = 'berth.owner';
export const OPERATION_LABEL = 'berth.operation';
/** On a record: the claim that its Pods mount. */
export const VOLUME_LABEL = 'berth.volume';
/** On the record of a container of the warm pool, until a create claims it. */
export const MEMBER_LABEL = 'berth.member';
/** Marks the Pods of an installation's isolation check, which have no row: by `INSTANCE_LABEL` they would be containers. */
export const CANARY_LABEL = 'berth.canary-of';
/** On Pods of containers. */
export const WORKSPACE_LABEL = 'berth.workspace';

const HALF = 32;
const FULL = /^[0-9a-f]{64}$/;

/**
 * The runtime id of a row's container: half a secret of row and generation, so that it changes with each recreate, and
 * half the row's id, so that it names the Pod without a question to the cluster.
 */
export const runtimeIdOf = (instanceId: string, dbId: string, generation: number): string =>
  createHmac('sha256', instanceId).update(`container ${dbId} ${generation}`).digest('hex').slice(0, HALF) +
  dbId.replaceAll('-', '');

/** The same for every generation of a row, so that the cluster never has two Pods for it. */
export const podNameOf = (dbId: string): string => `ws-${dbId}`;

/** Of the Pod that a container may have. */
export const podOfContainer = (runtimeId: string): string => podNameOf(dbIdOf(fullId(runtimeId)));

/** Of the secret that keeps a container's specification. */
export const recordNameOf = (runtimeId: string): string => `ws-${fullId(runtimeId)}`;

const dbIdOf = (runtimeId: string): string =>
  runtimeId.slice(HALF).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

function fullId(runtimeId: string): string {
  if (FULL.test(runtimeId)) return runtimeId;
  throw new ContainerNotRunning('not a full runtime id', true);
}

const HOSTNAME_MAX = 63;

/** A workspace's name as the cluster takes host names: in small letters, without a hyphen at either end. */
export const hostnameOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-')
    .slice(0, HOSTNAME_MAX)
    .replaceAll(/^-+|-+$/g, '') || 'workspace';
