import { randomUUID } from 'node:crypto';
/** The service on PostgreSQL, as in production but without an engine. Its argument is the database's address. */
import path from 'node:path';
import pino from 'pino';
import { memoryPorts } from '../../../src/adapters/memory/index.ts';
import { postgresBus } from '../../../src/adapters/postgres/bus.ts';
import { openDatabase, openPool } from '../../../src/adapters/postgres/database.ts';
import { migrate } from '../../../src/adapters/postgres/migrate.ts';
import { postgresStorage } from '../../../src/adapters/postgres/storage.ts';
import { argon2Hasher } from '../../../src/adapters/security/password-hasher.ts';
import { compose } from '../../../src/app/main/compose.ts';
import { every } from '../../../src/app/main/every.ts';
import { keysFrom } from '../../../src/app/main/keys.ts';
import { REDACTED } from '../../../src/app/main/redaction.ts';
import { announce } from './servers.ts';

const url = process.argv[2] ?? '';
const log = pino({ level: 'warn', redact: REDACTED }, pino.destination(2));
const db = openDatabase(openPool({ url }));
await migrate(db, path.resolve(import.meta.dirname, '../../../db/migrations'));
const bus = postgresBus(url, log);
const ports = {
  ...memoryPorts(),
  storage: postgresStorage(db),
  hasher: await argon2Hasher(),
  clock: { now: () => new Date() },
  monotonicMs: () => performance.now(),
  bus,
};
const up = { status: 'ready', detail: '' } as const;
const { http, accounts, writeDue, flush } = await compose(ports, {
  logger: log,
  keys: keysFrom(Buffer.alloc(48, 7)),
  version: '0.0.0',
  allowedOrigins: new Set(),
  trustProxy: [],
  secureCookie: false,
  publicUrl: null,
  readiness: async () => ({ status: 'ready', parts: { database: up, engine: up, image: up } }),
  replica: randomUUID(),
  verifyMs: 0,
  createWaitMs: 20_000,
  webRoot: null,
});
const stopWriter = every(1_000, writeDue, log);
const address = await http.listen({ host: '127.0.0.1', port: 0 });
const setupCode = (await accounts.newSetupCode()) ?? '';
announce({ address, setupCode }, async () => {
  await stopWriter();
  await http.close();
  await flush();
  await bus.close();
  await db.destroy();
});
