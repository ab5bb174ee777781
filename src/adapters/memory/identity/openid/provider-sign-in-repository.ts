import { randomUUID } from 'node:crypto';
import type { SignedOut } from '../../../../domain/identity/openid/logout-token.ts';
import type { Clock } from '../../../../ports/clock.ts';
import type {
  ArrivedProviderSignIn,
  ProviderSignInRepository,
} from '../../../../ports/identity/openid/provider-sign-in-repository.ts';
import type { FactorState } from '../totp-state.ts';
import type { OpenIdState } from './openid-state.ts';

export function memoryProviderSignIns(
  state: OpenIdState & Pick<FactorState, 'pending'>,
  clock: Clock,
): ProviderSignInRepository {
  const arrivedIn = (id: string, browserHash: Buffer) => {
    const browser = browserHash.toString('hex');
    const found = state.providerSignIns.find((one) => one.id === id && one.browserHash === browser);
    return found !== undefined && found.expiresAt > clock.now() ? toArrived(found) : null;
  };
  return {
    async insert(signIn, lifeMinutes) {
      const now = clock.now();
      state.providerSignIns.push({
        ...signIn,
        id: randomUUID(),
        stateHash: signIn.stateHash.toString('hex'),
        browserHash: signIn.browserHash.toString('hex'),
        invitationHash: signIn.invitationHash?.toString('hex') ?? null,
        startedAt: now,
        expiresAt: new Date(now.getTime() + lifeMinutes * 60_000),
        isSpent: false,
        claims: null,
        sealedIdToken: '',
      });
    },

    async spend(stateHash) {
      const key = stateHash.toString('hex');
      const found = state.providerSignIns.find((one) => one.stateHash === key);
      if (found === undefined || found.isSpent || found.expiresAt <= clock.now()) return null;
      state.providerSignIns = state.providerSignIns.map((one) =>
        one === found ? { ...one, isSpent: true } : one,
      );
      const browserHash = Buffer.from(found.browserHash, 'hex');
      return { ...found, stateHash, browserHash, invitationHash: bytesOf(found.invitationHash) };
    },

    async arrive(id, claims, sealedIdToken) {
      const arrived = { claims, sealedIdToken: sealedIdToken.toString('hex') };
      state.providerSignIns = state.providerSignIns.map((one) =>
        one.id === id ? { ...one, ...arrived } : one,
      );
    },

    find: async (id, browserHash) => arrivedIn(id, browserHash),

    async finish(id, browserHash) {
      const arrived = arrivedIn(id, browserHash);
      if (arrived !== null) state.providerSignIns = state.providerSignIns.filter((one) => one.id !== id);
      return arrived;
    },

    async endAll(whom) {
      state.providerSignIns = state.providerSignIns.filter(({ claims }) => !isOf(claims, whom));
      for (const [key, { provider }] of state.pending) if (isOf(provider, whom)) state.pending.delete(key);
    },
  };
}

type Stored = OpenIdState['providerSignIns'][number];

function toArrived({ claims, ...stored }: Stored): ArrivedProviderSignIn | null {
  if (claims === null) return null;
  const { purpose, sessionId, startedAt, invitationHash, sealedIdToken } = stored;
  return {
    purpose,
    sessionId,
    startedAt,
    claims,
    invitationHash: bytesOf(invitationHash),
    sealedIdToken: Buffer.from(sealedIdToken, 'hex'),
  };
}

const bytesOf = (hex: string | null): Buffer | null => (hex === null ? null : Buffer.from(hex, 'hex'));

type Whose = { readonly issuer: string; readonly subject: string; readonly sid: string | null };

/** Whether a sign-out of the provider is about this person or session. */
export const isOf = (one: Whose | null | undefined, { issuer, subject, sid }: SignedOut): boolean =>
  one != null &&
  one.issuer === issuer &&
  (subject === null || one.subject === subject) &&
  (sid === null || one.sid === sid || (one.sid === null && subject !== null));
