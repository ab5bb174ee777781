import { ENDED_KINDS, type EndedKind } from '../ports/history-repository.ts';
import type { Logger } from '../ports/logger.ts';
import type { Storage } from '../ports/storage.ts';

const AT_ONCE = 200;
/** Several passes handle a long backlog, with other database work in between. */
const ROUNDS = 20;

/** Removes what ended more than the setting `history_days` ago, a few rows at a time. A failing kind stops no other. */
export function forgetEnded({ repositories: { settings, history } }: Storage, log: Logger) {
  async function forget(kind: EndedKind, days: number): Promise<void> {
    for (let round = 0; round < ROUNDS; round += 1) {
      if ((await history.forget(kind, days, AT_ONCE)) === 0) return;
    }
  }

  return async (): Promise<void> => {
    const { historyDays } = await settings.read();
    for (const kind of ENDED_KINDS) {
      await forget(kind, historyDays).catch((err: unknown) =>
        log.warn({ err, kind }, 'could not delete old history; retrying later'),
      );
    }
  };
}
