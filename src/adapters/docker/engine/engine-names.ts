import { shortHash } from '../network/subnet.ts';

/** Marks everything of one installation: nothing without it is ever touched. */
export const INSTANCE_LABEL = 'berth.instance';
export const DB_ID_LABEL = 'berth.db_id';
export const OWNER_LABEL = 'berth.owner';
export const GENERATION_LABEL = 'berth.generation';
export const OPERATION_LABEL = 'berth.operation';
/** Of a container: the size of volume that it was made for. */
export const DISK_LABEL = 'berth.disk_mb';
/** Of a volume: how it keeps its size, and the file that it lies in, if any. */
export const QUOTA_LABEL = 'berth.quota';
export const IMAGE_LABEL = 'berth.image';
/** Of the volume with the installation's own tools, which is nobody's workspace. */
export const TOOLS_LABEL = 'berth.tools';
/** On images that were made of a container. */
export const CAPTURED_LABEL = 'berth.captured';
/** Marks the short-lived containers that prove the isolation of an installation. */
export const CANARY_LABEL = 'berth.canary';
/** Marks the containers that run one program of Berth on one volume. */
export const PASSING_LABEL = 'berth.passing';

/** Names on the engine and on this machine that belong to one installation. */
export const networkName = (instanceId: string): string => `berth-${shortHash(instanceId)}`;
export const bridgeName = (instanceId: string): string => `berthn-${shortHash(instanceId)}`;
export const chainName = (instanceId: string): string => `BERTH-${shortHash(instanceId)}`;
export const cgroupName = (instanceId: string): string => `berth-${shortHash(instanceId)}`;
