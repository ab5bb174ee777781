import type { ContainerOptions } from '../../../src/app/main/compose-options.ts';
import type { ContainerEngine } from '../../../src/ports/containers/container-engine.ts';
import { RuntimeFailure } from '../../../src/ports/containers/container-runtime.ts';
import type { OperationRepository } from '../../../src/ports/containers/operation-repository.ts';
import { type Storage, StorageUnavailable } from '../../../src/ports/storage.ts';
import { waitFor } from '../patience.ts';
import { aService } from './service.ts';

type Method = {
  [Name in keyof ContainerEngine]: ContainerEngine[Name] extends (...args: never[]) => Promise<unknown>
    ? Name
    : never;
}[keyof ContainerEngine];

/** Its next call is refused, as an engine in trouble does; all later ones do what they did. */
export function failsOnce(runtime: ContainerEngine, name: Method): void {
  const works = runtime[name];
  const fails = async (): Promise<never> => {
    Object.assign(runtime, { [name]: works });
    throw new RuntimeFailure('disk on fire');
  };
  Object.assign(runtime, { [name]: fails });
}

type Write = Extract<keyof OperationRepository, 'begin' | 'record' | 'finish'>;

/** A storage that commits the next transaction with such a write to an operation, and whose answer to that is lost. */
export function losesCommits(storage: Storage) {
  let armed: readonly Write[] = [];
  const inTransaction: Storage['inTransaction'] = async (work) => {
    let isLost = false;
    const result = await storage.inTransaction(async (tx) => {
      const operations = { ...tx.operations };
      for (const write of armed) {
        const works = tx.operations[write] as (...args: unknown[]) => Promise<boolean>;
        const noted = async (...args: unknown[]): Promise<boolean> => {
          isLost = true;
          return await works(...args);
        };
        Object.assign(operations, { [write]: noted });
      }
      return await work({ ...tx, operations });
    });
    if (!isLost) return result;
    armed = [];
    throw new StorageUnavailable('the connection failed at COMMIT');
  };
  return {
    storage: { ...storage, inTransaction },
    loseNext: (...writes: readonly Write[]): void => {
      armed = writes;
    },
    /** Whether an answer was lost since. */
    isLost: (): boolean => armed.length === 0,
  };
}

type Service = Awaited<ReturnType<typeof aService>>;
type Checkpoint = NonNullable<ContainerOptions['checkpoint']>;

/** Every place at which a process can die that works on an update with these steps. */
export const pointsOf = (steps: readonly string[]): readonly string[] =>
  steps.flatMap((step) => [`update before ${step}`, `update after ${step}`]);

/**
 * A process that never comes back from a point, and what has become of its work once another process has ended it: the
 * next run of that replica at once, any other one a minute later.
 */
export function dyingAt(point: string) {
  let dead = false;
  const checkpoint: Checkpoint = async (name) => {
    dead ||= name === point;
    if (dead) await new Promise(() => {});
  };
  const followedBy = async (service: Service, replica?: string): Promise<Service> => {
    await waitFor(() => dead, { what: point });
    if (replica === undefined) service.clock.advance(60_000);
    const next = await aService(service.ports, replica === undefined ? {} : { replica });
    await next.operations.takeOver();
    await next.operations.idle();
    return next;
  };
  return { checkpoint, followedBy };
}
