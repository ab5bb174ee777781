import { forEachAtMost } from '../../../concurrency/pool.ts';
import type { Pass } from '../../../concurrency/repeat.ts';
import { eachWithin } from '../../../concurrency/timeout.ts';
import type { Container } from '../../../domain/containers/container.ts';
import { endReason, warningWords } from '../../../domain/containers/lifetime/explain-lifetime.ts';
import type { EndAction } from '../../../domain/containers/lifetime/lifetime.ts';
import {
  type LifetimeEnd,
  type LifetimeStep,
  nextLifetimeStep,
} from '../../../domain/containers/lifetime/lifetime-end.ts';
import { endingEvent } from '../../../domain/events.ts';
import { ok, refuse } from '../../../domain/result.ts';
import { RuntimeUnavailable } from '../../../ports/containers/container-runtime.ts';
import type { ContainerInsight } from '../../../ports/containers/inside/container-insight.ts';
import type {
  LifetimeRepository,
  LivingContainer,
} from '../../../ports/containers/lifetime/lifetime-repository.ts';
import { BY_BERTH } from '../../by-berth.ts';
import type { ContainerDeps } from '../container-deps.ts';
import { endHung } from '../container-lifecycle.ts';
import { handleOf } from '../find-container.ts';
import type { Prepare } from '../operations/begin-operation.ts';
import { pinged } from '../operations/operation-deps.ts';
import { processorUse } from './processor-use.ts';

/** The first warning, and a pass more. */
const AHEAD_SECONDS = 310;
const AT_A_TIME = 4;
/** A pass does not wait longer for a container, whose own shell measures it and may never answer. */
const LATE_MS = 5_000;

export type EndingDeps = Pick<ContainerDeps, 'storage' | 'runtime' | 'operations' | 'log'> & {
  readonly insight: Pick<ContainerInsight, 'load'>;
  /** Shows a message in all terminals of a container, in every process. */
  readonly noticeAll: (dbId: string, message: string) => void;
};

/**
 * Warns about containers that end soon, and stops or deletes those whose time has come. Each process does this; the
 * row's lock and the operation let one of them act. Repeats what a killed process left.
 */
export function endContainers(deps: EndingDeps): Pass {
  const usesProcessor = processorUse(deps.insight);
  const actInTime = eachWithin(
    LATE_MS,
    ({ container }: LivingContainer) => container.dbId,
    (living) =>
      act({ ...deps, usesProcessor }, living).catch((err: unknown) => {
        const { dbId } = living.container;
        if (!(err instanceof RuntimeUnavailable)) deps.log.warn({ err, dbId }, 'could not end a container');
      }),
  );
  const pass = async (): Promise<void> => {
    const due = await deps.storage.repositories.lifetimes.listEnding(AHEAD_SECONDS);
    await forEachAtMost(AT_A_TIME, due, actInTime);
  };
  return Object.assign(pass, { idle: actInTime.idle });
}

const stepOf = ({ container, warned, now }: LivingContainer): LifetimeStep =>
  nextLifetimeStep(container, warned, now);

type ActDeps = EndingDeps & { readonly usesProcessor: ReturnType<typeof processorUse> };

async function act(deps: ActDeps, living: LivingContainer): Promise<void> {
  const step = stepOf(living);
  const action = step.do === 'nothing' ? null : await actionNow(deps, living, step.end);
  if (step.do === 'nothing' || action === null) return;
  if (step.do === 'warn') await warn(deps, living, step.end, action);
  else await end(deps, living, step.end, action);
}

/** Returns null, and records a use, when a process or the processor is busy although nobody uses the container. */
async function actionNow(
  { usesProcessor, storage }: ActDeps,
  living: LivingContainer,
  { because, action }: LifetimeEnd,
): Promise<EndAction | null> {
  const { container } = living;
  const handle = handleOf(container);
  if (because !== 'idle' || container.state !== 'running' || handle === null) return action;
  const { dbId, ownerId } = container;
  const { lifetimes, processes } = storage.repositories;
  const { ofContainer } = await processes.count(dbId, ownerId);
  const use = ofContainer > 0 ? 'busy' : await usesProcessor(living, handle);
  if (use === 'silent') return await actionInSilence(lifetimes, container, action);
  if (use === 'idle') return action;
  await lifetimes.noteUses([{ dbId, kind: ofContainer > 0 ? 'process' : 'processor' }]);
  return null;
}

/**
 * A silent container may be at work, so its files stay. An ephemeral one would be deleted right after its stop: once it
 * has been at work, it stays.
 */
async function actionInSilence(
  lifetimes: LifetimeRepository,
  { dbId, lifetime }: Container,
  action: EndAction,
): Promise<EndAction | null> {
  if (!lifetime.isEphemeral) return 'stop';
  const wasBusy = (await lifetimes.activity(dbId)).some(({ kind }) => kind === 'processor');
  return wasBusy ? null : action;
}

/** The step as it is now, with the row locked: a use may have been recorded meanwhile. */
async function stepNow(lifetimes: LifetimeRepository, dbId: string) {
  const living = await lifetimes.findForUpdate(dbId);
  if (living === null) return null;
  // The use is read by a statement that begins after the lock.
  const again = await lifetimes.findForUpdate(dbId);
  return again === null ? null : { living: again, step: stepOf(again) };
}

async function warn(
  { storage, noticeAll }: EndingDeps,
  { container: { dbId } }: LivingContainer,
  due: LifetimeEnd,
  action: EndAction,
): Promise<void> {
  const words = await storage.inTransaction(async (tx) => {
    const now = await stepNow(tx.lifetimes, dbId);
    if (now?.step.do !== 'warn' || now.step.end.action !== due.action) return null;
    const { leadSeconds } = now.step;
    const end = { ...now.step.end, action };
    if (!(await tx.lifetimes.markWarned(dbId, end.at, leadSeconds))) return null;
    const message = warningWords(end, leadSeconds, now.living.container.name);
    await tx.events.append(endingEvent(now.living.container, end, message));
    return message;
  });
  if (words !== null) noticeAll(dbId, words);
}

async function end(
  deps: EndingDeps,
  { container }: LivingContainer,
  due: LifetimeEnd,
  action: EndAction,
): Promise<void> {
  const { dbId } = container;
  const reason = endReason(container, { ...due, action });
  const prepare: Prepare = async (tx) => {
    const now = await stepNow(tx.lifetimes, dbId);
    if (now?.step.do !== 'end' || now.step.end.action !== due.action)
      return refuse({ code: 'container_busy' });
    const { name, resources } = now.living.container;
    return ok({ container: now.living.container, target: { name, resources } });
  };
  const { userId: _, ...origin } = BY_BERTH;
  const request = { kind: action, caller: null, origin, reason } as const;
  const observable = endHung(deps, container);
  observable.catch(() => undefined);
  const done = await deps.operations.submit(dbId, request, prepare, {
    answers: pinged(deps),
    observable,
  });
  if (done.ok) deps.log.info({ dbId, ownerId: container.ownerId, reason }, 'container ended by its lifetime');
}
