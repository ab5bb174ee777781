import type { Settings } from '../domain/settings.ts';

export interface SettingsRepository {
  /** Stored values over the defaults. */
  read(): Promise<Settings>;
  /** Writes only the given ones; returns all. */
  change(changes: Partial<Settings>): Promise<Settings>;
}
