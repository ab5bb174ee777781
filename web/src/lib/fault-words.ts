import type { Fault } from '../api/health.ts';

/** For those who can do nothing about it: what it means for them. */
const PLAINLY: Readonly<Record<string, string>> = {
  engine: 'Containers cannot start at the moment',
  image: 'New containers are not ready yet',
  disk: 'No container can be created at the moment',
  isolation: 'A security check of this server has failed',
  database: 'Berth is not fully working at the moment',
};

/** For administrators. */
const HEADLINES: Readonly<Record<string, string>> = {
  engine: 'The container engine is not running, so containers cannot start',
  image: 'The default image is not ready yet',
  disk: 'Disk quotas cannot be enforced, so no container can be created',
  isolation: 'Containers are not isolated from each other and from what is around them',
  database: 'Berth cannot reach its database',
};

/** For administrators, where the reason says less than that the isolation is broken. */
const OF_ISOLATION: { readonly [R in NonNullable<Fault['reason']>]?: string } = {
  untested: 'The isolation of containers could not be tested',
  filter_changed: 'The rules that isolate containers were changed from outside',
};

/** What is wrong, in one line. */
export function headlineOf({ component, reason }: Fault, isAdmin: boolean): string {
  const ofReason = isAdmin && component === 'isolation' && reason != null ? OF_ISOLATION[reason] : undefined;
  return ofReason ?? (isAdmin ? HEADLINES : PLAINLY)[component] ?? `${component} has a problem`;
}

/** The faults that do not follow from another of them: without an engine, only that one. */
export function causesIn(faults: readonly Fault[]): readonly Fault[] {
  const follows = ({ component, reason }: Fault): boolean =>
    ['image', 'disk'].includes(component) ||
    (component === 'isolation' && [null, 'waiting'].includes(reason ?? null));
  return faults.some(({ component }) => component === 'engine')
    ? faults.filter((fault) => !follows(fault))
    : faults;
}
