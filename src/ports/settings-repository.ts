import type { Settings } from '../domain/settings.ts';

export interface SettingsRepository {
  /** Stored values over the defaults. */
  read(): Promise<Settings>;
  /** Writes only the given ones; answers all of them. */
  change(changes: Partial<Settings>): Promise<Settings>;
}
