import { recordingRoutes } from '../../adapters/http/routes/recordings.ts';
import { cutOffBy } from '../../adapters/http/streaming.ts';
import { isLocked } from '../../domain/caller.ts';
import type { Storage } from '../../ports/repositories.ts';
import type { ActRecords } from '../act-records.ts';
import { liveRecordings } from '../live-recordings.ts';
import type { LiveSockets } from '../live-sockets.ts';
import { recordingNews } from '../recording-news.ts';
import { recordings } from '../recordings.ts';
import type { Terminals } from '../terminals.ts';
import type { ComposeOptions, Ports } from './ports.ts';

type Shared = {
  readonly storage: Storage;
  readonly acts: ActRecords;
  readonly monotonicMs: () => number;
};

/** Recording of terminals: what terminals need of it, and then the rest, which needs the terminals. */
export function recording(
  ports: Ports,
  { storage, acts, monotonicMs }: Shared,
  { logger: log, replica }: ComposeOptions,
) {
  const { recordingFiles: files, clock } = ports;
  const news = recordingNews(ports.bus);
  const live = liveRecordings({ storage, files, clock, monotonicMs, log, replica, news });
  return {
    forTerminals: { recordings: live, news },
    over(terminals: Terminals, sockets: LiveSockets) {
      const work = recordings({ storage, acts, files, live, terminals, news, replica, log });
      const routes = recordingRoutes(
        work,
        cutOffBy(sockets, (now) => !isLocked(now)),
      );
      return { work, routes };
    },
  };
}
