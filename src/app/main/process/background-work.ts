import type { FastifyBaseLogger } from 'fastify';
import { type Pass, repeat } from '../../../concurrency/repeat.ts';
import { within } from '../../../concurrency/timeout.ts';
import { RECORDED_EVERY_SECONDS } from '../../../domain/containers/lifetime/activity.ts';
import type { Service } from '../service.ts';
import { sparingLog } from './sparing-log.ts';

const ROLES_EVERY_MS = 2_000;
const SHARED_EVERY_MS = 5_000;
/** How late an ended process is noticed when nobody looks at it. */
const PROCESSES_EVERY_MS = 30_000;
const MEASURE_EVERY_MS = 60_000;
/** As often as the page asks for figures. */
const FIGURES_EVERY_MS = 20_000;
const CAPACITY_EVERY_MS = 30_000;
/** How long a container can exhaust a kernel counter. */
const SHARES_EVERY_MS = 5_000;
const SPACE_EVERY_MS = 2_000;
const USES_EVERY_MS = RECORDED_EVERY_SECONDS * 1_000;
/** How soon a purged volume makes room for a new one. */
const VOLUMES_EVERY_MS = 15_000;
const REMOVALS_EVERY_MS = 5_000;
/** How late an ended account is signed out of open pages and recorded. */
const ENDS_EVERY_MS = 5_000;
const REAP_EVERY_MS = 30_000;
const COLLECT_EVERY_MS = 300_000;
const SWEEP_EVERY_MS = 300_000;
const SEAL_EVERY_MS = 1_000;
const WRITE_EVERY_MS = 1_000;
/** How late an outage is noticed, and how exactly its length is known. */
const HEALTH_EVERY_MS = 5_000;

/**
 * A stop does not wait longer for a container that does not answer. A container that is stopped for its disk may have
 * ten seconds, which does not fit into a shutdown: its row stays `stopping`, and the next process's reconciliation
 * settles it.
 */
const LEFT_MS = 1_500;

/** Repeats a pass; its end also waits for the work that the pass has left in the background. */
export function repeatPass(ms: number, pass: Pass, log: FastifyBaseLogger, firstMs?: number) {
  const stop = repeat(ms, pass, sparingLog(log), firstMs);
  return async (): Promise<void> => {
    await stop();
    await within(LEFT_MS, pass.idle?.() ?? Promise.resolve(), undefined);
  };
}

/** Starts the recurring work; returns the end of each. */
export function inBackground(service: Service, log: FastifyBaseLogger): readonly (() => Promise<void>)[] {
  const every = (ms: number, pass: Pass, firstMs?: number) => repeatPass(ms, pass, log, firstMs);
  return [
    every(ROLES_EVERY_MS, service.roleSetups.keep),
    every(SHARED_EVERY_MS, service.collaborations.keep),
    every(PROCESSES_EVERY_MS, service.settleProcesses),
    every(MEASURE_EVERY_MS, service.measureDisks),
    every(FIGURES_EVERY_MS, service.sampleFigures),
    every(CAPACITY_EVERY_MS, service.readCapacity, 0),
    every(SHARES_EVERY_MS, service.watchKernelShares),
    every(SPACE_EVERY_MS, service.watchSpace),
    every(USES_EVERY_MS, service.keepUses),
    every(USES_EVERY_MS, service.endContainers),
    every(REMOVALS_EVERY_MS, service.removeUsers),
    every(ENDS_EVERY_MS, service.endAccounts),
    every(VOLUMES_EVERY_MS, service.collectVolumes),
    every(REAP_EVERY_MS, service.reapTerminals, 0),
    every(COLLECT_EVERY_MS, service.recordings.sweep),
    every(SWEEP_EVERY_MS, service.sweepEvents),
    every(SWEEP_EVERY_MS, service.sweepCommandRuns),
    every(SWEEP_EVERY_MS, service.forgetEnded),
    every(SEAL_EVERY_MS, service.sealAudit),
    every(WRITE_EVERY_MS, service.writeDue),
    every(HEALTH_EVERY_MS, service.recordHealth),
  ];
}
