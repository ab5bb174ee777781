import { shortHash } from './subnet.ts';

/** Marks everything of one installation: nothing without it is ever touched. */
export const INSTANCE_LABEL = 'berth.instance';
export const DB_ID_LABEL = 'berth.db_id';
export const OWNER_LABEL = 'berth.owner';
export const GENERATION_LABEL = 'berth.generation';
export const OPERATION_LABEL = 'berth.operation';

/** Names on the engine and on this machine that belong to one installation. */
export const networkName = (instanceId: string): string => `berth-${shortHash(instanceId)}`;
export const bridgeName = (instanceId: string): string => `berthn-${shortHash(instanceId)}`;
export const chainName = (instanceId: string): string => `BERTH-${shortHash(instanceId)}`;
export const cgroupName = (instanceId: string): string => `berth-${shortHash(instanceId)}`;
