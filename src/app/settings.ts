import type { Caller, RequestOrigin } from '../domain/identity/caller.ts';
import { ok, refuse } from '../domain/result.ts';
import type { Settings } from '../domain/settings.ts';
import type { Bus } from '../ports/bus.ts';
import type { Storage } from '../ports/storage.ts';
import type { AsyncResult } from './async-result.ts';
import { publishAllCredentialsChanged } from './identity/auth/credential-changes.ts';

export type SettingsService = ReturnType<typeof settingsService>;

/** The administrators' settings; the route's scope checks the right. */
export const settingsService = ({ repositories, inTransaction }: Storage, bus: Bus) => ({
  read: () => repositories.settings.read(),

  async change(changes: Partial<Settings>, caller: Caller, origin: RequestOrigin): AsyncResult<Settings> {
    const { oidcTier } = changes;
    const tiers = oidcTier === undefined ? [] : await repositories.catalogue.tiers();
    if (oidcTier !== undefined && !tiers.some(({ name }) => name === oidcTier)) {
      const words = `must be one of ${tiers.map(({ name }) => name).join(', ')}`;
      return refuse({ code: 'validation_failed', fields: { oidcTier: words } });
    }
    const { settings, isChanged } = await inTransaction(async (tx) => {
      const present = await tx.settings.read();
      const different = differing(changes, present);
      if (Object.keys(different).length === 0) return { settings: present, isChanged: false };
      const details = JSON.stringify(different);
      await tx.audit.append({ userId: caller.user.id, action: 'settings_updated', ...origin, details });
      return { settings: await tx.settings.change(different), isChanged: true };
    });
    if (isChanged) publishAllCredentialsChanged(bus);
    return ok(settings);
  },
});

const differing = (changes: Partial<Settings>, present: Settings): Partial<Settings> =>
  Object.fromEntries(
    Object.entries(changes).filter(([key, value]) => present[key as keyof Settings] !== value),
  );
