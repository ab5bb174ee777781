import type { ContainerState } from '../containers/container.ts';
import type { OperationKind } from '../containers/operation.ts';
import { CLOSE, type CloseReason } from './terminal.ts';

/** The container of a terminal as it is now. */
export type ContainerStatus = {
  readonly state: ContainerState;
  readonly runtimeId: string | null;
  /** What is being done with it. */
  readonly operation: OperationKind | null;
};

/** What the close is for somebody: of a container that is deleted, those who take part in it lose the share. */
export const forParticipant = (reason: CloseReason, isParticipant: boolean): CloseReason =>
  isParticipant && reason === CLOSE.containerDeleted ? CLOSE.collaborationEnded : reason;

/**
 * Why terminals in the engine's container `runtimeId` are to be closed, though nobody said so; null when they stay. The
 * container of an update may be the same afterwards.
 */
export function closeReason(now: ContainerStatus | null, runtimeId: string): CloseReason | null {
  if (now === null || now.state === 'deleted') return CLOSE.containerDeleted;
  // Until the engine has removed it, a delete may still fail.
  if (now.operation === 'delete') return null;
  if (now.operation === 'stop' || ['stopping', 'stopped', 'failed'].includes(now.state))
    return CLOSE.containerStopped;
  return now.runtimeId === runtimeId ? null : CLOSE.containerRestarted;
}

/** The same, with what is about to close them: a delete or an update takes the container down, whatever its row says. */
export function takedownReason(now: ContainerStatus | null, runtimeId: string): CloseReason | null {
  if (now?.operation === 'delete') return CLOSE.containerDeleted;
  return closeReason(now, runtimeId) ?? (now?.operation === 'update' ? CLOSE.containerRestarted : null);
}
