import type { Test } from 'tap';
import type { TestEngine } from '../engine/engine.ts';
import { waitFor } from '../patience.ts';
import { aServicePlace, type Call, FAULTY, faultsOf } from './fault-scene.ts';
import { Invariants } from './invariants.ts';
import { client, type Running, signInAdmin, startService } from './running-service.ts';

/** Services on one data folder and one database: the one that recovers from a kill is the next one to be killed. */
export type KillChain = {
  readonly url: string;
  readonly invariants: Invariants;
  /** Requests to the service that runs now, which is started first when none does. */
  call(): Promise<Call>;
  /**
   * Does the work, in which the service dies once each of these operations is at its point. The next service has recovered
   * when the answer comes.
   */
  dieAt(t: Test, points: readonly string[], work: (call: Call) => Promise<unknown>): Promise<Call>;
  /** Starts a service that dies at the point by itself, maybe before it is ready. */
  dieStarting(t: Test, point: string): Promise<void>;
  /** Stops the service; the next one has these settings as well. */
  stop(settings?: NodeJS.ProcessEnv): Promise<void>;
};

/** All of it ends with `t`; null when the test was skipped. */
export async function aKillChain(
  t: Test,
  engine: TestEngine,
  settings: NodeJS.ProcessEnv = {},
): Promise<KillChain | null> {
  const set = await aServicePlace(t, settings);
  if (set === null) return null;
  const { place, next } = faultsOf(set.place);
  const invariants = new Invariants(set.url, engine.docker);
  t.teardown(() => invariants.close());
  let token: string | null = null;
  let running: Running | null = null;

  async function call(): Promise<Call> {
    running ??= await startService(t, place, FAULTY);
    token ??= await signInAdmin(running);
    return client(running.address, token);
  }

  return {
    url: set.url,
    invariants,
    call,
    async dieAt(t, points, work) {
      const asked = await call();
      const dying = running as Running;
      next(...points);
      await work(asked).catch(() => undefined);
      await diesOf(t, dying, points.join(', '));
      running = null;
      const again = await call();
      await invariants.settled();
      return again;
    },
    async dieStarting(t, point) {
      next(point);
      const dying = await startService(t, place, FAULTY).catch(() => null);
      if (dying !== null) await diesOf(t, dying, point);
    },
    async stop(settings = {}) {
      await running?.stop();
      running = null;
      Object.assign(place.env, settings);
    },
  };
}

async function diesOf(t: Test, { child }: Running, point: string): Promise<void> {
  const hasEnded = () => child.signalCode !== null || child.exitCode !== null;
  await waitFor(hasEnded, { what: `the service dies ${point}`, patienceMs: 60_000 });
  t.equal(child.signalCode, 'SIGKILL', `${point}: it died there`);
}
