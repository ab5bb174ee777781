/** The service on PostgreSQL, as in production but without an engine. Argument: the database's address. */
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import pino from 'pino';
import { postgresBus } from '../../../src/adapters/postgres/bus.ts';
import { openDatabase, openPool } from '../../../src/adapters/postgres/connection/database.ts';
import { migrate } from '../../../src/adapters/postgres/migrate.ts';
import { postgresStorage } from '../../../src/adapters/postgres/storage.ts';
import { argon2Hasher } from '../../../src/adapters/security/password-hasher.ts';
import { openFilesLimit } from '../../../src/adapters/system/open-files.ts';
import { publishEventsAdded } from '../../../src/app/events/event-messages.ts';
import { REDACTED } from '../../../src/app/main/process/log-redaction.ts';
import { repeat } from '../../../src/concurrency/repeat.ts';
import { aService } from '../../support/service/service.ts';
import { announce, nowMs, onAnnounce } from './servers.ts';

const url = process.argv[2] ?? '';
const logger = pino({ level: 'warn', redact: REDACTED }, pino.destination(2));
const db = openDatabase(openPool({ url }));
await migrate(db, path.resolve(import.meta.dirname, '../../../db/migrations'));
const bus = postgresBus(url, logger);
const ports = {
  storage: postgresStorage(db),
  hasher: await argon2Hasher(),
  clock: { now: () => new Date() },
  monotonicMs: () => performance.now(),
  bus,
};
const { http, registration, writeDue, flush } = await aService(ports, {
  logger,
  openFiles: openFilesLimit(),
});
const stopWriter = repeat(1_000, writeDue, logger);
const address = await http.listen({ host: '127.0.0.1', port: 0 });
const setupCode = (await registration.newSetupCode()) ?? '';
onAnnounce(async (ownerId) => {
  const data = { id: randomUUID(), db_id: randomUUID(), name: 'calm-harbor', status: 'stopped' };
  await ports.storage.repositories.events.append({
    type: 'container_stopped',
    dbId: data.db_id,
    ownerId,
    data,
  });
  const committedAtMs = nowMs();
  publishEventsAdded(bus);
  return committedAtMs;
});
announce({ address, setupCode }, async () => {
  await stopWriter();
  await http.close();
  await flush();
  await bus.close();
  await db.destroy();
});
