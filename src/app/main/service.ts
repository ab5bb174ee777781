import type { Http } from '../../adapters/http/fastify-types.ts';
import type { CloseReason } from '../../domain/terminals/terminal.ts';
import type { Registration } from '../identity/sign-in/registration.ts';
import type { AgentWork } from './wiring/wire-agents.ts';
import type { wireContainers } from './wiring/wire-containers.ts';
import type { SshWork } from './wiring/wire-ssh.ts';
import type { wireTerminals } from './wiring/wire-terminals.ts';

/** The composed service: its server, and what its process does with it. */
export type Service = ReturnType<typeof wireContainers>['work'] &
  ReturnType<typeof wireTerminals>['work'] &
  SshWork & {
    readonly agents: AgentWork;
    readonly http: Http;
    readonly registration: Registration;
    /** Refuses every new request with a retry time. */
    readonly drain: () => void;
    readonly closeEvents: (reason: CloseReason) => void;
    /** Removes events too old to be requested; for a timer. */
    readonly sweepEvents: () => Promise<void>;
    readonly sweepCommandRuns: () => Promise<void>;
    readonly forgetEnded: () => Promise<void>;
    readonly endAccounts: () => Promise<void>;
    /** Records what this process finds of the service; for a timer. */
    readonly recordHealth: () => Promise<void>;
    /** Notes that this process ends on purpose. */
    readonly noteStop: () => Promise<void>;
    /** Ends all unfinished answers and open sockets. */
    readonly cutOff: () => void;
    /** Sends request counts and writes due uses; for a timer. */
    readonly writeDue: () => Promise<void>;
    /** Re-encrypts with the present key. Returns the number of secrets that no key decrypts. */
    readonly reseal: () => Promise<number>;
    /** Seals new audit records; for a timer. */
    readonly sealAudit: () => Promise<void>;
    /** Writes what is only in memory. */
    readonly flush: () => Promise<void>;
  };
