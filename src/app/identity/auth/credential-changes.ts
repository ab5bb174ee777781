import type { Bus } from '../../../ports/bus.ts';

/** A credential, or a user, whose state has changed. */
export type CredentialChange = {
  readonly kind: 'token' | 'session' | 'ssh_key' | 'user';
  readonly id: string;
};

const TOPIC = 'credential';

/**
 * Call it after the commit and before the answer: this process's caches are clear when it returns, the others' soon.
 */
export const publishCredentialChange = (bus: Bus, { kind, id }: CredentialChange): void =>
  bus.publish(TOPIC, { kind, id });

/** All users and credentials, for example after a setting changed. */
export const publishAllCredentialsChanged = (bus: Bus): void => bus.publish(TOPIC, { kind: 'all', id: null });

const KINDS: readonly unknown[] = [
  'token',
  'session',
  'ssh_key',
  'user',
] satisfies CredentialChange['kind'][];
const isKind = (kind: unknown): kind is CredentialChange['kind'] => KINDS.includes(kind);

/** `forget` gets null for all. */
export function subscribeToCredentialChanges(
  bus: Bus,
  forget: (changed: CredentialChange | null) => void,
): void {
  const all = (): void => forget(null);
  bus.subscribe(
    TOPIC,
    ({ kind, id }) => {
      if (isKind(kind) && typeof id === 'string') forget({ kind, id });
      else all();
    },
    all,
  );
}
