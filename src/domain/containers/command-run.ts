import { type ReplicaReport, replicaState } from '../service/health.ts';

export type CommandEnd =
  /** `exitCode` null: its time limit ended it. */
  | { readonly kind: 'exit'; readonly exitCode: number | null; readonly outputBytes: number }
  /** The service ended it, because its client did not return in time. */
  | { readonly kind: 'abandoned' }
  /** Its end was not seen. */
  | { readonly kind: 'unknown' };

/** A command that its client can resume, as the process of the service that reads it has recorded. */
export type CommandRun = {
  readonly replica: string;
  readonly startedAt: Date;
  /** null while it runs, or when its process was killed. */
  readonly end: CommandEnd | null;
};

/** The process that is asked. It may have restarted since it began the command. */
export type AskedProcess = {
  readonly replica: string;
  /** Whether it began the command, and has not recorded an end. */
  readonly hasBegun: boolean;
};

export type Resumption =
  /** The client has everything but the end. */
  | { readonly kind: 'ended'; readonly exitCode: number | null }
  /** Another process of the service has it. */
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'output_lost'; readonly exitCode: number | null }
  | { readonly kind: 'lost' }
  | { readonly kind: 'abandoned' }
  | { readonly kind: 'unknown' };

/**
 * What to tell a client with so much output whose command the process that is asked does not have. `now` is the
 * database's clock, like the other times.
 */
export function resumptionOf(
  run: CommandRun | null,
  receivedBytes: number,
  asked: AskedProcess,
  reports: readonly ReplicaReport[],
  now: Date,
): Resumption {
  if (run === null) return { kind: 'unknown' };
  const { end, replica } = run;
  if (end?.kind === 'abandoned') return end;
  if (end?.kind === 'exit' && end.outputBytes === receivedBytes)
    return { kind: 'ended', exitCode: end.exitCode };
  const holder = reports.find((one) => one.replica === replica) ?? null;
  if (replica !== asked.replica && mayHave(holder, run, now)) return { kind: 'elsewhere' };
  if (end === null) return { kind: asked.hasBegun ? 'abandoned' : 'lost' };
  return end.kind === 'exit' ? { kind: 'output_lost', exitCode: end.exitCode } : end;
}

/** Whether the process that began the command may still have it. Until its first report, the start is its heartbeat. */
function mayHave(holder: ReplicaReport | null, { replica, startedAt }: CommandRun, now: Date): boolean {
  const begun = { replica, startedAt, seenAt: startedAt, stoppedAt: null, parts: [] };
  if (holder === null) return replicaState(begun, now) === 'running';
  const isAnew = holder.startedAt > startedAt;
  const { seenAt, stoppedAt } = holder;
  const wroteSince = seenAt > startedAt || (stoppedAt !== null && stoppedAt >= startedAt);
  return !isAnew && replicaState(wroteSince ? holder : begun, now) === 'running';
}
