/** One measurement of a running container. */
export type Measured = {
  readonly at: Date;
  readonly cpuMillicores: number;
  readonly memoryBytes: number;
  /** How many programs the memory limit has ended since the container's start; null where unknown. */
  readonly memoryKills: number | null;
};

/** A minute of the past: the mean of the processor's use, the peak of the memory's. */
export type Minute = {
  /** The number of the minute since 1970. */
  readonly minute: number;
  readonly cpuMillicores: number;
  readonly memoryBytes: number;
  readonly measurements: number;
};

/** What a container uses, and has used in the last hour as far as it was measured. */
export type Figures = Measured & {
  /** Oldest first, at most 60; minutes without a measurement are absent. */
  readonly minutes: readonly Minute[];
  /** When the memory limit was last seen to end a program; null if it never was while measured. */
  readonly killedAt: Date | null;
};

export const HOUR_MINUTES = 60;
const MINUTE_MS = 60_000;

const minuteSince1970 = (at: Date): number => Math.floor(at.getTime() / MINUTE_MS);

/** The figures with one more measurement; `before` is null at the first. */
export function withMeasured(before: Figures | null, now: Measured): Figures {
  const minute = minuteSince1970(now.at);
  const past = (before?.minutes ?? []).filter((one) => one.minute > minute - HOUR_MINUTES);
  const last = past.at(-1);
  const minutes =
    last?.minute === minute ? [...past.slice(0, -1), joined(last, now)] : [...past, startOf(minute, now)];
  return { ...now, minutes, killedAt: hasKilled(before, now) ? now.at : (before?.killedAt ?? null) };
}

/** Whether the count has grown. After a restart it begins at zero again. */
function hasKilled(before: Figures | null, { memoryKills }: Measured): boolean {
  const known = before?.memoryKills ?? null;
  return memoryKills !== null && known !== null && memoryKills > known;
}

const startOf = (minute: number, { cpuMillicores, memoryBytes }: Measured): Minute => ({
  minute,
  cpuMillicores,
  memoryBytes,
  measurements: 1,
});

function joined(one: Minute, { cpuMillicores, memoryBytes }: Measured): Minute {
  const measurements = one.measurements + 1;
  return {
    minute: one.minute,
    cpuMillicores: one.cpuMillicores + (cpuMillicores - one.cpuMillicores) / measurements,
    memoryBytes: Math.max(one.memoryBytes, memoryBytes),
    measurements,
  };
}

/** The hour until `now`, minute by minute, oldest first; null for a minute without a measurement. */
export function hourOf({ minutes }: Figures, now: Date): readonly (Minute | null)[] {
  const first = minuteSince1970(now) - HOUR_MINUTES + 1;
  const known = new Map(minutes.map((one) => [one.minute, one]));
  return Array.from({ length: HOUR_MINUTES }, (_, index) => known.get(first + index) ?? null);
}
