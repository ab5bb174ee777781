/** One process of the service on PostgreSQL, with all timers of production, and an engine of the bench's choice. */
import pino from 'pino';
import { postgresBus } from '../../../../src/adapters/postgres/bus.ts';
import { openDatabase, openPool } from '../../../../src/adapters/postgres/connection/database.ts';
import { postgresStorage } from '../../../../src/adapters/postgres/storage.ts';
import { argon2Hasher } from '../../../../src/adapters/security/password-hasher.ts';
import { inBackground } from '../../../../src/app/main/process/background-work.ts';
import { REDACTED } from '../../../../src/app/main/process/log-redaction.ts';
import { reconcileLoop } from '../../../../src/app/main/process/reconcile-loop.ts';
import type { ContainerEngine } from '../../../../src/ports/containers/container-engine.ts';
import { RuntimeUnavailable } from '../../../../src/ports/containers/container-runtime.ts';
import type { Storage } from '../../../../src/ports/storage.ts';
import { aService } from '../../../support/service/service.ts';
import { announce } from '../servers.ts';

/** What a pass over all containers took, in real time and in processor time of this process. */
export type PassTook = { readonly ms: number; readonly cpuMs: number };

/** Of the passes so far, of which the first counts from the start of the process. */
export type Passes = { readonly count: number; readonly first: PassTook | null; readonly peakBytes: number };

const KIB = 1024;

/** Serves until the bench is gone; answers `pass` by a pass of its own, and `passes` by what was done so far. */
export async function serveOn(url: string, engineOf: (storage: Storage) => Promise<ContainerEngine>) {
  const logger = pino({ level: 'warn', redact: REDACTED }, pino.destination(2));
  const db = openDatabase(openPool({ url }));
  const bus = postgresBus(url, logger);
  const storage = postgresStorage(db);
  const runtime = await engineOf(storage);
  const ports = {
    storage,
    runtime,
    hasher: await argon2Hasher(),
    clock: { now: () => new Date() },
    monotonicMs: () => performance.now(),
    bus,
  };
  const service = await aService(ports, { logger });
  const { counted, passes } = countingPasses(service.reconcile);
  const reconciling = reconcileLoop(logger);
  const unwatch = runtime.watch(reconciling.soon);
  const stops = [
    reconciling.start({ ...service, reconcile: counted }),
    ...inBackground(service, service.http.log),
  ];
  process.on('message', (message) => {
    if (message === 'passes') process.send?.(passes());
    if (message === 'pass') void aPass(service.reconcile).then((took) => process.send?.(took));
  });
  const address = await service.http.listen({ host: '127.0.0.1', port: 0 });
  announce({ address }, async () => {
    unwatch();
    await Promise.all(stops.map((stop) => stop()));
    await service.http.close();
    await service.flush();
    await bus.close();
    await db.destroy();
  });
}

/** One that succeeds: on a busy machine an engine may be silent for a moment. */
async function aPass(pass: () => Promise<void>): Promise<PassTook> {
  try {
    return await timed(pass);
  } catch (error) {
    if (error instanceof RuntimeUnavailable) return await aPass(pass);
    throw error;
  }
}

async function timed(work: () => Promise<void>): Promise<PassTook> {
  const [startedAt, usage] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(usage);
  return { ms: performance.now() - startedAt, cpuMs: (user + system) / 1_000 };
}

function countingPasses(pass: (onProgress?: () => void) => Promise<void>) {
  let count = 0;
  let first: PassTook | null = null;
  return {
    async counted(onProgress?: () => void): Promise<void> {
      await pass(onProgress);
      count += 1;
      const { user, system } = process.cpuUsage();
      first ??= { ms: performance.now(), cpuMs: (user + system) / 1_000 };
    },
    passes: (): Passes => ({ count, first, peakBytes: process.resourceUsage().maxRSS * KIB }),
  };
}
