import type { Quota } from './disk-quota.ts';
import { type Resources, sameResources } from './resources.ts';

/**
 * Containers started in advance.
 *
 *   making --> ready --> claiming --by a create--> the row is gone, a container's row replaces it
 *      |         |          |
 *      +---------+----------+--> removing --> gone, with its volume, which was never used
 *
 * A claim takes only ready members, and a removal ends `ready` first, so no member is both claimed and removed. A claim
 * is marked in the engine before the create: a restored database may have a row of a member that is a user's container.
 * What the engine does not show as unclaimed therefore leaves the pool without its container and volume.
 */
export type PoolMember = {
  readonly dbId: string;
  readonly state: 'making' | 'ready' | 'claiming' | 'removing';
  readonly node: string;
  readonly image: string;
  /** The image that the reference named when the member was made. */
  readonly imageId: string;
  readonly resources: Resources;
  readonly volume: string;
  /** null while it is being made. */
  readonly runtimeId: string | null;
  /** How the size of its volume is enforced; null while unknown. */
  readonly quota: Quota | null;
};

/** A member, and whether the process making, claiming or removing it is gone. */
export type WatchedMember = PoolMember & { readonly abandoned: boolean };

/** What members are made of; null when they cannot be made now. */
export type PoolModel = Pick<PoolMember, 'node' | 'image' | 'imageId' | 'resources'> & {
  /** The image is of an older version of Berth: another process may have the new one. */
  readonly isOlder: boolean;
  /** How sizes of new volumes are enforced. */
  readonly quota: Quota;
};

export type PoolPlan = { readonly remove: readonly PoolMember[]; readonly make: number };

export const POOL_GENERATION = 1;

/** A member's future name is unknown, and engines cannot rename a running container's host. */
export const POOL_HOSTNAME = 'workspace';

/**
 * Which members to remove and how many to make, so that `size` good ones exist or are being made. Members come oldest
 * first; `running` are those whose containers were seen running and unclaimed after the rows were read. With an older image, members
 * of other images stay, and while there are any, none are made: two processes would replace each other's members.
 */
export function planPool(
  members: readonly WatchedMember[],
  running: ReadonlySet<string>,
  size: number,
  model: PoolModel | null,
): PoolPlan {
  const isGood = (one: PoolMember): boolean =>
    one.state === 'ready' && running.has(one.dbId) && model !== null && isOf(one, model);
  const isOthers = (one: PoolMember): boolean =>
    model?.isOlder === true &&
    one.imageId !== model.imageId &&
    isOf({ ...one, imageId: model.imageId }, model);
  const coming = members.filter((one) => one.state === 'making' && !one.abandoned).length;
  const good = members.filter(isGood);
  const surplus = new Set(good.slice(0, Math.max(0, good.length + coming - size)));
  const leftBehind = members.filter((one) => one.state !== 'ready' && one.abandoned);
  const others = members.filter((one) => COUNTED.has(one.state) && isOthers(one));
  const bad = members.filter(
    (one) =>
      one.state === 'ready' &&
      (surplus.has(one) || !(running.has(one.dbId) && (isGood(one) || isOthers(one)))),
  );
  const kept = good.length - surplus.size + coming;
  const mayMake = model !== null && others.length === 0;
  return { remove: [...leftBehind, ...bad], make: mayMake ? Math.max(0, size - kept) : 0 };
}

const COUNTED: ReadonlySet<PoolMember['state']> = new Set(['making', 'ready']);

const isOf = (one: PoolMember, { node, image, imageId, resources, quota }: PoolModel): boolean =>
  one.node === node &&
  one.image === image &&
  one.imageId === imageId &&
  (one.quota === null || one.quota === quota) &&
  sameResources(one.resources, resources);

/**
 * The `disk_mb` that a member must have been made with; null when any will do. Memory and processor can be set later,
 * an enforced disk size cannot.
 */
export const diskToClaim = (wanted: Resources, quota: 'hard' | 'soft'): number | null =>
  quota === 'hard' ? wanted.diskMb : null;

/** Whether a member already is what the request wants, so that a create has nothing to set. */
export const isFitted = ({ quota, resources }: PoolMember, wanted: Resources): boolean =>
  quota !== null && sameResources(resources, wanted);
