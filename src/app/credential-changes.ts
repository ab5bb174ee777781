import type { Bus } from '../ports/bus.ts';

/** Something that requests and sockets rest on was revoked, locked, disabled, demoted or otherwise changed. */
export type CredentialChange = { readonly kind: 'session' | 'api_token' | 'user'; readonly id: string };

const TOPIC = 'credential';
const KINDS: ReadonlySet<unknown> = new Set<CredentialChange['kind']>(['session', 'api_token', 'user']);

export type CredentialChanges = ReturnType<typeof credentialChanges>;

/** Says, and hears, that a credential or a user is to be looked at again. What became of it is in the database. */
export const credentialChanges = (bus: Bus) => ({
  /** False while changes made by other processes may go unheard. */
  get heard(): boolean {
    return bus.connected;
  },

  /** After the commit, never inside the transaction. */
  announce(kind: CredentialChange['kind'], id: string): void {
    bus.publish(TOPIC, { kind, id });
  },

  /** `onGap`: anything may have changed. Returns what undoes it. */
  watch(onChange: (change: CredentialChange) => void, onGap: () => void): () => void {
    return bus.subscribe(
      TOPIC,
      ({ kind, id }) => {
        if (KINDS.has(kind) && typeof id === 'string') onChange({ kind, id } as CredentialChange);
      },
      onGap,
    );
  },
});
