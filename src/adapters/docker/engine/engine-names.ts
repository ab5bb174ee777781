import { shortHash } from '../network/subnet.ts';

/** Marks everything of one installation; nothing without it is touched. */
export const INSTANCE_LABEL = 'berth.instance';
export const DB_ID_LABEL = 'berth.db_id';
export const OWNER_LABEL = 'berth.owner';
export const GENERATION_LABEL = 'berth.generation';
export const OPERATION_LABEL = 'berth.operation';
/** On a container: the volume size that it was made for. */
export const DISK_LABEL = 'berth.disk_mb';
/** On a volume: its quota method, and its image file, if any. */
export const QUOTA_LABEL = 'berth.quota';
export const IMAGE_LABEL = 'berth.image';
/** On the installation's tmux volume. */
export const TOOLS_LABEL = 'berth.tools';
/** On captured images. */
export const CAPTURED_LABEL = 'berth.captured';
/** On the short-lived containers of the isolation check. */
export const CANARY_LABEL = 'berth.canary';
/** On one-shot containers, which run one program on one volume. */
export const PASSING_LABEL = 'berth.passing';

/** Names of one installation on the engine and this machine. */
export const networkName = (instanceId: string): string => `berth-${shortHash(instanceId)}`;
export const bridgeName = (instanceId: string): string => `berthn-${shortHash(instanceId)}`;
export const chainName = (instanceId: string): string => `BERTH-${shortHash(instanceId)}`;
export const cgroupName = (instanceId: string): string => `berth-${shortHash(instanceId)}`;
