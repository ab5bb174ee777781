import type { Storage } from '../ports/repositories.ts';

const AT_ONCE = 200;
/** A long backlog is worked off by several passes, with others of the database's work between them. */
const ROUNDS = 20;

/** Removes what ended longer ago than the setting `history_days`, a few rows at a time. */
export const forgetEnded =
  ({ repositories: { settings, history } }: Storage) =>
  async (): Promise<void> => {
    const { historyDays } = await settings.read();
    for (let round = 0; round < ROUNDS; round += 1) {
      if ((await history.forget(historyDays, AT_ONCE)) === 0) return;
    }
  };
