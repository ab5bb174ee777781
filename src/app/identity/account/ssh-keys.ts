import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import {
  MAX_SSH_KEYS,
  parseSshKey,
  type SshKey,
  sshKeyName,
  sshKeyNameFaults,
} from '../../../domain/identity/ssh-key.ts';
import { ok, refuse } from '../../../domain/result.ts';
import { isUuid } from '../../../domain/uuid.ts';
import type { Storage } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { orRollBack } from '../../transaction.ts';
import { mayMakeLasting } from './lasting-credential.ts';
import { withLockedCaller } from './lock-caller.ts';

export type SshKeys = ReturnType<typeof sshKeys>;

/** The caller's own SSH public keys; another user's look unknown. */
export const sshKeys = (
  { repositories, inTransaction }: Storage,
  pendingUse: (keyId: string) => Date | null,
) => ({
  /** Newest first. */
  async list({ user }: Caller): Promise<readonly SshKey[]> {
    const keys = await repositories.sshKeys.listOwned(user.id);
    return keys.map((key) => ({ ...key, lastUsedAt: pendingUse(key.id) ?? key.lastUsedAt }));
  },

  /** `name` defaults to the key's comment. */
  async add(
    publicKey: string,
    name: string | undefined,
    caller: Caller,
    origin: RequestOrigin,
  ): AsyncResult<SshKey> {
    const { user } = caller;
    const parsed = parseSshKey(publicKey);
    if ('fault' in parsed) return refuse({ code: 'validation_failed', fields: { publicKey: parsed.fault } });
    const called = sshKeyName(name, parsed);
    const fields = sshKeyNameFaults(called);
    if (Object.keys(fields).length > 0) return refuse({ code: 'validation_failed', fields });
    const { type, publicKey: line, fingerprint } = parsed;
    return await withLockedCaller(inTransaction, caller, async (tx) => {
      const lasting = await mayMakeLasting(tx, caller);
      if (!lasting.ok) return lasting;
      if ((await tx.sshKeys.count(user.id)) >= MAX_SSH_KEYS)
        return refuse({ code: 'ssh_key_limit_reached', max: MAX_SSH_KEYS });
      const key = await tx.sshKeys.insert({
        userId: user.id,
        name: called,
        type,
        publicKey: line,
        fingerprint,
      });
      if (key === null) return refuse({ code: 'ssh_key_exists' });
      await tx.audit.append({ userId: user.id, action: 'ssh_key_added', ...origin, details: fingerprint });
      return ok(key);
    });
  },

  async remove(id: string, { user }: Caller, origin: RequestOrigin): AsyncResult<SshKey> {
    if (!isUuid(id)) return refuse({ code: 'ssh_key_not_found' });
    return await orRollBack(inTransaction, async (tx) => {
      const key = await tx.sshKeys.remove(id.toLowerCase(), user.id);
      if (key === null) return refuse({ code: 'ssh_key_not_found' });
      const details = key.fingerprint;
      await tx.audit.append({ userId: user.id, action: 'ssh_key_removed', ...origin, details });
      return ok(key);
    });
  },
});
