import type { LoadNow } from '../../../domain/containers/capacity/capacity.ts';
import type { PersonUse } from '../../../domain/containers/capacity/person-use.ts';
import { type Caller, credentialId, type RequestOrigin } from '../../../domain/identity/caller.ts';
import { oncePer } from '../../audit/audit-view-log.ts';
import { type CapacityDeps, sumOf } from './read-capacity.ts';

const NOTE_EVERY_MS = 600_000;

/** `load`: what the user's containers use now; null when unknown. */
export type PersonUsage = PersonUse & { readonly load: LoadNow | null };

type UsageDeps = Pick<CapacityDeps, 'storage' | 'read'> & { readonly monotonicMs: () => number };

/** Usage by person, for administrators. A view is recorded, once in a while per session or token. */
export function readUsage({ storage: { repositories }, monotonicMs, read }: UsageDeps) {
  const isNew = oncePer(NOTE_EVERY_MS, monotonicMs);

  return async ({ user, credential }: Caller, origin: RequestOrigin): Promise<readonly PersonUsage[]> => {
    const [people, allRunning, { loads }] = await Promise.all([
      repositories.capacity.people(),
      repositories.capacity.running(),
      read(),
    ]);
    if (isNew(credentialId(credential)))
      await repositories.audit.append({ userId: user.id, action: 'usage_listed', ...origin, details: '' });
    const byOwner = Map.groupBy(allRunning, ({ ownerId }) => ownerId);
    return people.map((one) => {
      const running = byOwner.get(one.userId) ?? [];
      const found = running.flatMap(({ runtimeId }) => loads?.get(runtimeId) ?? []);
      return { ...one, load: loads === null && running.length > 0 ? null : sumOf(found) };
    });
  };
}
