import { isLive, type ReplicaReport } from '../service/health.ts';

/** A command that its client can resume, as the process of the service that reads it has recorded. */
export type CommandRun = {
  readonly replica: string;
  readonly startedAt: Date;
  /** null while it runs, or when nobody saw its end. `exitCode` null: its time limit ended it. */
  readonly end: { readonly exitCode: number | null; readonly outputBytes: number } | null;
};

export type Resumption =
  /** The client has everything but the end. */
  | { readonly kind: 'ended'; readonly exitCode: number | null }
  /** Another process of the service has it. */
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'output_lost'; readonly exitCode: number | null }
  | { readonly kind: 'lost' }
  | { readonly kind: 'unknown' };

/**
 * What to tell a client with so much output whose command this process does not have. `asked`: this process, which may
 * have been started anew. `now` is the database's clock, like the other times.
 */
export function resumptionOf(
  run: CommandRun | null,
  receivedBytes: number,
  asked: string,
  reports: readonly ReplicaReport[],
  now: Date,
): Resumption {
  if (run === null) return { kind: 'unknown' };
  const { end, replica, startedAt } = run;
  if (end !== null && end.outputBytes === receivedBytes) return { kind: 'ended', exitCode: end.exitCode };
  const holder = reports.find((one) => one.replica === replica);
  const isHeld = holder !== undefined && isLive(holder, now) && holder.startedAt <= startedAt;
  if (replica !== asked && isHeld) return { kind: 'elsewhere' };
  return end === null ? { kind: 'lost' } : { kind: 'output_lost', exitCode: end.exitCode };
}
