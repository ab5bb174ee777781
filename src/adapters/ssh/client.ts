import type { SshConnection } from '../../app/terminals/ssh/ssh-connections.ts';
import type { SshPrograms } from '../../app/terminals/ssh/ssh-programs.ts';
import type { DomainError } from '../../domain/errors.ts';
import type { CloseReason } from '../../domain/terminals/terminal.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Carrier } from './carrier.ts';

/** A signed-in client, for its channels. */
export type SignedInClient = {
  readonly connection: SshConnection;
  readonly programs: SshPrograms;
  readonly carrier: Carrier;
  readonly log: Logger;
  /** Ends the connection at once. */
  readonly close: (reason: CloseReason) => void;
};

/** Variables for its programs. */
export type SessionClient = SignedInClient & {
  /** The path of a socket in the container that reaches the client's SSH agent; null when there can be none. */
  readonly agentSocket: () => Promise<string | null>;
};

/** A line for people, who read it in their own terminal. */
export function refusalWords(error: DomainError, containerName: string): string {
  switch (error.code) {
    case 'container_not_running':
      return `${containerName} is stopped: berth start ${containerName}`;
    case 'container_not_found':
      return `${containerName} does not exist any more`;
    case 'too_many_at_once':
      return 'too many connections or channels are open: close some';
    case 'rate_limited':
      return `too many requests: try again in ${error.retryAfterSeconds} s`;
    case 'validation_failed':
      return Object.entries(error.fields)
        .map(([field, fault]) => `${field} ${fault}`)
        .join('; ');
    default:
      return error.code.replaceAll('_', ' ');
  }
}

/** For a client that named no container of its user. */
export function unknownWords(wanted: string, names: readonly string[]): string {
  const yours = names.length > 0 ? `yours: ${names.join(', ')}` : 'you have none';
  const shown = wanted.replace(/[^\x21-\x7e]/g, '?').slice(0, 64);
  return `no container "${shown}"; ${yours}`;
}

/** Exit codes of ssh itself, and of a shell for a program that cannot run. */
export const EXIT = { failed: 255, unknown: 1 } as const;
