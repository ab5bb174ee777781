/**
 * One process of the service on PostgreSQL, with all timers of production, and an engine that is only in its memory: it
 * has the containers that the database names. Argument: the database's address.
 */
import pino from 'pino';
import { memoryRuntime } from '../../../src/adapters/memory/index.ts';
import { postgresBus } from '../../../src/adapters/postgres/bus.ts';
import { openDatabase, openPool } from '../../../src/adapters/postgres/connection/database.ts';
import { postgresStorage } from '../../../src/adapters/postgres/storage.ts';
import { argon2Hasher } from '../../../src/adapters/security/password-hasher.ts';
import { inBackground } from '../../../src/app/main/process/background-work.ts';
import { REDACTED } from '../../../src/app/main/process/log-redaction.ts';
import { reconcileLoop } from '../../../src/app/main/process/reconcile-loop.ts';
import type { Container } from '../../../src/domain/containers/container.ts';
import { aService } from '../../support/service/service.ts';
import { announce } from './servers.ts';

const url = process.argv[2] ?? '';
const logger = pino({ level: 'warn', redact: REDACTED }, pino.destination(2));
const db = openDatabase(openPool({ url }));
const bus = postgresBus(url, logger);
const storage = postgresStorage(db);
const runtime = memoryRuntime('local');
for (const row of await storage.repositories.containers.listAllLive()) place(row);
const ports = {
  storage,
  runtime,
  hasher: await argon2Hasher(),
  clock: { now: () => new Date() },
  monotonicMs: () => performance.now(),
  bus,
};
const service = await aService(ports, { logger });
const reconciling = reconcileLoop(logger);
const stops = [reconciling.start(service), ...inBackground(service, service.http.log)];
const address = await service.http.listen({ host: '127.0.0.1', port: 0 });

function place(row: Container): void {
  const { dbId, ownerId, generation, image, volume, resources, env, runtimeId } = row;
  if (runtimeId === null) return;
  const named = { dbId, ownerId, generation, operationId: null, hostname: row.name };
  const spec = { ...named, image, volume, resources, env };
  runtime.boxes.set(runtimeId, {
    spec,
    handle: { node: 'local', runtimeId },
    startedAt: row.startedAt,
    paused: false,
  });
  runtime.volumes.set(volume, { quota: 'soft', usedBytes: 0, isResizable: true });
}

process.on('message', (message) => {
  if (message !== 'pass') return;
  const [startedAt, usage] = [performance.now(), process.cpuUsage()];
  void service.reconcile().then(() => {
    const { user, system } = process.cpuUsage(usage);
    process.send?.({ ms: performance.now() - startedAt, cpuMs: (user + system) / 1_000 });
  });
});
announce({ address }, async () => {
  await Promise.all(stops.map((stop) => stop()));
  await service.http.close();
  await service.flush();
  await bus.close();
  await db.destroy();
});
