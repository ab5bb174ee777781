import { postgresBus } from '../../../adapters/postgres/bus.ts';
import { keepPresence } from '../../../adapters/postgres/notification-listener.ts';
import { type Installation, redisBus } from '../../../adapters/redis/bus.ts';
import type { Bus } from '../../../ports/bus.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Config } from '../config.ts';
import type { Stops } from '../process/shutdown-stack.ts';
import { sparingLog } from '../process/sparing-log.ts';

/** Messages between processes go through the database, or through the Redis of `BERTH_BUS_URL`. */
export function openBus(
  { busUrl }: Config,
  database: Installation & { readonly url: string },
  log: Logger,
  opened: Stops,
): Bus {
  if (busUrl !== null) {
    const presence = keepPresence(database.url, sparingLog(log));
    opened.add('presence in the database', () => presence.close());
  }
  // An attempt every two seconds, for as long as it is away.
  const busLog = sparingLog(log);
  const bus = busUrl === null ? postgresBus(database.url, busLog) : redisBus(busUrl, database, busLog);
  opened.add('connection to other processes', () => bus.close());
  return bus;
}
