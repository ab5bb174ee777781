import type { FastifyBaseLogger } from 'fastify';
import { repeat } from '../../../concurrency/repeat.ts';
import { RECORDED_EVERY_SECONDS } from '../../../domain/containers/lifetime/activity.ts';
import type { Service } from '../service.ts';

const ROLES_EVERY_MS = 2_000;
const SHARED_EVERY_MS = 5_000;
/** How late an ended process is noticed when nobody looks at it. */
const PROCESSES_EVERY_MS = 30_000;
const MEASURE_EVERY_MS = 60_000;
/** How long a container can exhaust a kernel counter. */
/** As often as the page asks for figures. */
const FIGURES_EVERY_MS = 20_000;
const CAPACITY_EVERY_MS = 30_000;
const SHARES_EVERY_MS = 5_000;
const SPACE_EVERY_MS = 2_000;
const USES_EVERY_MS = RECORDED_EVERY_SECONDS * 1_000;
/** How soon a purged volume makes room for a new one. */
const VOLUMES_EVERY_MS = 15_000;
const REMOVALS_EVERY_MS = 5_000;
const REAP_EVERY_MS = 30_000;
const COLLECT_EVERY_MS = 300_000;
const SWEEP_EVERY_MS = 300_000;
const SEAL_EVERY_MS = 1_000;
const WRITE_EVERY_MS = 1_000;
/** How late an outage is noticed, and how exactly its length is known. */
const HEALTH_EVERY_MS = 5_000;

/** Starts the recurring work; returns the end of each. */
export const inBackground = (service: Service, log: FastifyBaseLogger): readonly (() => Promise<void>)[] => [
  repeat(ROLES_EVERY_MS, service.roleSetups.keep, log),
  repeat(SHARED_EVERY_MS, service.collaborations.keep, log),
  repeat(PROCESSES_EVERY_MS, service.settleProcesses, log),
  repeat(MEASURE_EVERY_MS, service.measureDisks, log),
  repeat(FIGURES_EVERY_MS, service.sampleFigures, log),
  repeat(CAPACITY_EVERY_MS, service.readCapacity, log, 0),
  repeat(SHARES_EVERY_MS, service.watchKernelShares, log),
  repeat(SPACE_EVERY_MS, service.watchSpace, log),
  repeat(USES_EVERY_MS, service.keepUses, log),
  repeat(USES_EVERY_MS, service.endContainers, log),
  repeat(REMOVALS_EVERY_MS, service.removeUsers, log),
  repeat(VOLUMES_EVERY_MS, service.collectVolumes, log),
  repeat(REAP_EVERY_MS, service.reapTerminals, log, 0),
  repeat(COLLECT_EVERY_MS, service.recordings.sweep, log),
  repeat(SWEEP_EVERY_MS, service.sweepEvents, log),
  repeat(SWEEP_EVERY_MS, service.forgetEnded, log),
  repeat(SEAL_EVERY_MS, service.sealAudit, log),
  repeat(WRITE_EVERY_MS, service.writeDue, log),
  repeat(HEALTH_EVERY_MS, service.recordHealth, log),
];
