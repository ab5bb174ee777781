import type { ComposeOptions } from '../../src/app/main/ports.ts';
import { waitFor } from './patience.ts';
import { aService } from './service.ts';

type Service = Awaited<ReturnType<typeof aService>>;
type Checkpoint = NonNullable<ComposeOptions['checkpoint']>;

/** Every place at which a process can die that works on an update with these steps. */
export const pointsOf = (steps: readonly string[]): readonly string[] =>
  steps.flatMap((step) => [`update before ${step}`, `update after ${step}`]);

/** A process that never comes back from a point, and what has become of its work once another process has ended it. */
export function dyingAt(point: string) {
  let dead = false;
  const checkpoint: Checkpoint = async (name) => {
    dead ||= name === point;
    if (dead) await new Promise(() => {});
  };
  const followedBy = async (service: Service): Promise<Service> => {
    await waitFor(() => dead, { what: point });
    service.clock.advance(60_000);
    const next = await aService(service.ports);
    await next.operations.takeOver();
    await next.operations.idle();
    return next;
  };
  return { checkpoint, followedBy };
}
