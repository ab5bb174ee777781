import type { Origin } from '../../domain/identity/caller.ts';
import { refuse } from '../../domain/result.ts';
import type { Logger } from '../../ports/logger.ts';
import type { LiveTerminal } from '../terminals/terminal-connections.ts';
import type { LiveRecordings } from './active-recordings.ts';
import { type RecordingTold, WORDS } from './recording-messages.ts';

/** Records from the first byte on. A terminal without its recording is better than none: why there is none. */
export async function recordAtOnce(
  { recordings, log }: { readonly recordings: Pick<LiveRecordings, 'begin'>; readonly log: Logger },
  terminal: LiveTerminal,
  containerName: string,
  origin: Origin,
): Promise<RecordingTold | null> {
  const begun = await recordings
    .begin(terminal, { containerName, origin, held: true })
    .catch((err: unknown) => {
      log.warn({ err }, 'a terminal could not be recorded');
      return refuse({ code: 'failed' } as const);
    });
  if (begun.ok) return null;
  const message = begun.error.code === 'recording_quota_reached' ? WORDS.quota : WORDS.failed;
  const { userId, dbId, connectionId } = terminal;
  return { id: '', userId, dbId, connectionId, on: false, message };
}
