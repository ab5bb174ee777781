import { createHmac } from 'node:crypto';
import { fullId } from '../../docker/engine/ownership.ts';

/** On a service: the volume of its container. */
export const VOLUME_LABEL = 'berth.volume';
/** On a service and on a volume's record: the node that has the volume. */
export const NODE_LABEL = 'berth.node';
/** On a service: the limits that its container has now, or at its next start. */
export const RESOURCES_LABEL = 'berth.resources';

/** On a service: the image that was asked for; its tasks name one by its id. */
export const IMAGE_LABEL = 'berth.image';

/** On the service of a container of the warm pool, until a create claims it. */
export const MEMBER_LABEL = 'berth.member';

/** How the name of each service begins; digits of a secret follow. */
export const SERVICE_PREFIX = 'ws-';

/** A service's name has at most 63 characters. */
const NAME_DIGITS = 48;

/** The runtime id of a row's container: a secret of row and generation, so that it changes with each recreate. */
export const runtimeIdOf = (instanceId: string, dbId: string, generation: number): string =>
  createHmac('sha256', instanceId).update(`container ${dbId} ${generation}`).digest('hex');

/**
 * Of the service of a container. Deterministic, so that it cannot exist twice. Neighbours may ask for names, so it
 * cannot be guessed either.
 */
export const serviceNameOf = (runtimeId: string): string =>
  `${SERVICE_PREFIX}${fullId(runtimeId).slice(0, NAME_DIGITS)}`;

/** Of the record that says which node has a volume. */
export const volumeRecordOf = (volume: string): string => `volume-${volume}`;
