import { recordingRoutes } from '../../../adapters/http/routes/terminals/recordings.ts';
import { abortWhenUnauthorized } from '../../../adapters/http/streamed-replies.ts';
import { isLocked } from '../../../domain/identity/caller.ts';
import type { Storage } from '../../../ports/storage.ts';
import type { ActRecords } from '../../audit/activity-records.ts';
import type { AuthorizedConnections } from '../../identity/auth/authorized-connections.ts';
import { ActiveRecordings } from '../../recordings/active-recordings.ts';
import { recordingMessages } from '../../recordings/recording-messages.ts';
import { recordings } from '../../recordings/recordings.ts';
import { terminalRecordings } from '../../recordings/terminal-recordings.ts';
import type { Terminals } from '../../terminals/terminals.ts';
import type { ComposeOptions, Ports } from '../compose-options.ts';

type Shared = {
  readonly storage: Storage;
  readonly acts: ActRecords;
  readonly monotonicMs: () => number;
};

/** Recordings in two parts: what terminals need of them, and the rest, which needs the terminals. */
export function recording(
  ports: Ports,
  { storage, acts, monotonicMs }: Shared,
  { logger: log, replica }: ComposeOptions,
) {
  const { recordingFiles: files, clock } = ports;
  const messages = recordingMessages(ports.bus, log);
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
