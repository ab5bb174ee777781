import { BerthError } from '../request/errors.ts';

export const isSignedOut = (error: unknown): boolean => error instanceof BerthError && error.status === 401;

/** Whether a refusal does not pass by itself. */
export const isFinal = (error: unknown): boolean =>
  error instanceof BerthError && error.status >= 400 && error.status < 500 && error.status !== 429;

/** A service that does not answer, or cannot yet. */
export const passes = (error: unknown): error is BerthError => error instanceof BerthError && !isFinal(error);

export const endedByClient = (): BerthError =>
  new BerthError(0, 'command_ended', 'the command was ended by its client');

export const notOpened = (): BerthError => new BerthError(0, 'unreachable', 'the WebSocket was not opened');

export const broken = (reason = ''): BerthError =>
  new BerthError(
    0,
    'command_outcome_unknown',
    reason === ''
      ? 'the connection broke before the command ended'
      : `the service closed the connection before the command ended: ${reason}`,
  );

export const signedOut = (): BerthError => new BerthError(401, 'unauthorized', 'unauthorized');
