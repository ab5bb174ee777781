import { randomBytes } from 'node:crypto';
import { CODE_LIFE_SECONDS, MAX_ENROLMENT_CODES } from '../../../domain/containers/agents/agent-enrolment.ts';
import { cleanAgentName } from '../../../domain/containers/agents/agent-name.ts';
import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import { isDisabled } from '../../../domain/identity/people/account-end.ts';
import { type ApiToken, mintToken, TOKEN_RANDOM_BYTES } from '../../../domain/identity/token.ts';
import { guestExpired, type User } from '../../../domain/identity/user.ts';
import { ok, refuse } from '../../../domain/result.ts';
import { isUuid } from '../../../domain/uuid.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Repositories, Storage } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { mayMakeLasting } from '../../identity/account/lasting-credential.ts';
import { withLockedCaller } from '../../identity/account/lock-caller.ts';
import { roomForToken } from '../../identity/account/token-records.ts';
import { newSecret, sha256 } from '../../identity/auth/secrets.ts';
import { orRollBack } from '../../transaction.ts';
import { isIdOfAnother, roomForAgent } from './connect-agent.ts';

export type Enrolments = ReturnType<typeof enrolments>;

/** `code` is the only copy. */
export type Enrolment = { readonly code: string; readonly expiresAt: Date };

/** A machine that has a code. */
export type Applicant = { readonly code: string; readonly machineId: string; readonly name: string };

/** One-time codes, which a machine exchanges for an API token that serves only as its agent. */
export const enrolments = ({ storage, clock }: { readonly storage: Storage; readonly clock: Clock }) => ({
  async create(caller: Caller, origin: RequestOrigin): AsyncResult<Enrolment> {
    const { user } = caller;
    if (guestExpired(user, clock.now())) return refuse({ code: 'guest_session_expired' });
    const code = newSecret();
    return await withLockedCaller(storage.inTransaction, caller, async (tx) => {
      const lasting = await mayMakeLasting(tx, caller);
      if (!lasting.ok) return lasting;
      if ((await tx.agentEnrolments.count(user.id)) >= MAX_ENROLMENT_CODES)
        return refuse({ code: 'enrolment_limit_reached', max: MAX_ENROLMENT_CODES });
      const room = await roomForAgent(tx, caller);
      if (!room.ok) return room;
      const wanted = { userId: user.id, codeHash: sha256(code), lifeSeconds: CODE_LIFE_SECONDS };
      const expiresAt = await tx.agentEnrolments.insert(wanted);
      await tx.audit.append({ userId: user.id, action: 'agent_enrolment_created', ...origin, details: '' });
      return ok({ code, expiresAt });
    });
  },

  /** The code is spent unless the exchange is refused. */
  async exchange(
    { code, machineId, name }: Applicant,
    origin: RequestOrigin,
  ): AsyncResult<{ readonly token: ApiToken; readonly secret: string }> {
    if (!isUuid(machineId)) return refuse({ code: 'validation_failed', fields: { agent: 'must be a UUID' } });
    const { secret, prefix } = mintToken(randomBytes(TOKEN_RANDOM_BYTES));
    return await orRollBack(storage.inTransaction, async (tx) => {
      const user = await takeCode(tx, code);
      const mayEnrol = user !== null && !isDisabled(user, clock.now()) && !guestExpired(user, clock.now());
      if (!mayEnrol) return refuse({ code: 'enrolment_not_found' });
      if (await isIdOfAnother(tx, machineId)) return refuse({ code: 'enrolment_not_found' });
      const room = await roomForToken(tx, user.id);
      if (!room.ok) return room;
      const token = await tx.tokens.insert({
        userId: user.id,
        name: `agent ${cleanAgentName(name)}`,
        scopes: ['write'],
        lifeMs: null,
        prefix,
        hash: sha256(secret),
        notAfter: null,
        containers: [machineId.toLowerCase()],
        parentId: null,
        depth: 0,
        maxUses: null,
        usesLeft: null,
      });
      const details = JSON.stringify({ id: token.id, token_prefix: prefix, machine_id: machineId });
      await tx.audit.append({ userId: user.id, action: 'agent_enrolled', ...origin, details });
      return ok({ token, secret });
    });
  },
});

/** Locks the user first, in the order of everybody who ends the user's codes. */
async function takeCode(
  { agentEnrolments, users }: Pick<Repositories, 'agentEnrolments' | 'users'>,
  code: string,
): Promise<User | null> {
  const hash = sha256(code);
  const userId = await agentEnrolments.userOf(hash);
  if (userId === null) return null;
  await users.lock(userId);
  return (await agentEnrolments.take(hash)) === null ? null : await users.findById(userId);
}
