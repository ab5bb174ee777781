import { refuse } from '../../domain/result.ts';
import { RECORDING_WORDS, watches } from '../../domain/terminals/recording.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Repositories } from '../../ports/storage.ts';
import type { TerminalObserver } from '../terminals/terminal-connections.ts';
import type { ActiveRecordings } from './active-recordings.ts';
import type { RecordingMessages } from './recording-messages.ts';

export type TerminalRecordingsDeps = {
  readonly recordings: Pick<Repositories['recordings'], 'activeIn'>;
  readonly live: ActiveRecordings;
  readonly messages: Pick<RecordingMessages, 'subscribe'>;
  readonly log: Logger;
};

export const terminalRecordings = ({
  recordings,
  live,
  messages,
  log,
}: TerminalRecordingsDeps): TerminalObserver => ({
  opened: (key, stream) => live.opened(key, stream),
  emptied: (key) => live.emptied(key),
  onNotice: (notice) => messages.subscribe({ notice }),

  async recordOnOpen(terminal, containerName, origin) {
    const begun = await live
      .begin(terminal, { containerName, origin, includesBuffered: true })
      .catch((err: unknown) => {
        log.warn({ err }, 'a terminal could not be recorded');
        return refuse({ code: 'failed' } as const);
      });
    if (begun.ok) return null;
    const isFull = begun.error.code === 'recording_quota_reached';
    const { userId, dbId, connectionId } = terminal;
    const message = RECORDING_WORDS[isFull ? 'quota' : 'failed'];
    return { id: '', userId, dbId, connectionId, on: false, message };
  },

  async recordingOf(terminal) {
    // For participants only: the owner's own terminals are recorded in their process.
    const elsewhere = terminal.owner ? [] : await recordings.activeIn(terminal.dbId);
    return () => {
      const one = [...live.all(), ...elsewhere].find((each) => watches(terminal, each));
      return one === undefined ? null : { ...one, on: true, message: RECORDING_WORDS.started };
    };
  },
});
