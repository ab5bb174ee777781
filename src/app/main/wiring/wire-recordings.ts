import { recordingRoutes } from '../../../adapters/http/routes/terminals/recordings.ts';
import { abortWhenUnauthorized } from '../../../adapters/http/streamed-replies.ts';
import { isLocked } from '../../../domain/identity/caller.ts';
import type { ActRecords } from '../../audit/activity-records.ts';
import type { AuthorizedConnections } from '../../identity/auth/authorized-connections.ts';
import { ActiveRecordings } from '../../recordings/active-recordings.ts';
import { recordingMessages } from '../../recordings/recording-messages.ts';
import { recordings } from '../../recordings/recordings.ts';
import { terminalRecordings } from '../../recordings/terminal-recordings.ts';
import type { Terminals } from '../../terminals/terminals.ts';
import type { AllPorts, ComposeOptions } from '../compose-options.ts';

/** Recordings in two parts: what terminals need of them, and the rest, which needs the terminals. */
export function wireRecordings(
  { storage, recordingFiles: files, clock, bus, monotonicMs }: AllPorts,
  acts: ActRecords,
  { logger: log, replica }: ComposeOptions,
) {
  const messages = recordingMessages(bus, log);
  const live = new ActiveRecordings({ storage, files, clock, monotonicMs, log, replica, messages });
  const rows = storage.repositories.recordings;
  return {
    forTerminals: terminalRecordings({ recordings: rows, live, messages, log }),
    over(terminals: Terminals, sockets: AuthorizedConnections) {
      const work = recordings({ storage, acts, files, live, terminals, messages, replica, log });
      const routes = recordingRoutes(
        work,
        abortWhenUnauthorized(sockets, (now) => !isLocked(now)),
      );
      return { work, routes };
    },
  };
}
