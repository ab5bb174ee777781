import type { ContainerState } from '../containers/container.ts';
import type { OperationKind } from '../containers/operation.ts';
import { CLOSE, type CloseReason } from './terminal.ts';

/** The present state of a terminal's container. */
export type ContainerStatus = {
  readonly state: ContainerState;
  readonly runtimeId: string | null;
  /** The operation in progress. */
  readonly operation: OperationKind | null;
};

/** The reason as one user sees it: participants see a container's deletion as the end of the share. */
export const forParticipant = (reason: CloseReason, isParticipant: boolean): CloseReason =>
  isParticipant && reason === CLOSE.containerDeleted ? CLOSE.collaborationEnded : reason;

/**
 * Why terminals in the engine's container `runtimeId` must close, without a message about it; null when they stay. An
 * update may keep the container.
 */
export function closeReason(now: ContainerStatus | null, runtimeId: string): CloseReason | null {
  if (now === null || now.state === 'deleted') return CLOSE.containerDeleted;
  // A delete may still fail until the engine has removed the container.
  if (now.operation === 'delete') return null;
  if (now.operation === 'stop' || ['stopping', 'stopped', 'failed'].includes(now.state))
    return CLOSE.containerStopped;
  return now.runtimeId === runtimeId ? null : CLOSE.containerRestarted;
}

/** Operations that take a container down, whatever its row says, and keep it. */
const TAKEN_DOWN: { readonly [K in OperationKind]?: CloseReason } = {
  update: CLOSE.containerRestarted,
  transfer: CLOSE.containerStopped,
};

/** The same, expecting the operation's effect. */
export function takedownReason(now: ContainerStatus | null, runtimeId: string): CloseReason | null {
  if (now?.operation === 'delete') return CLOSE.containerDeleted;
  const expected = now?.operation ? TAKEN_DOWN[now.operation] : undefined;
  return closeReason(now, runtimeId) ?? expected ?? null;
}
