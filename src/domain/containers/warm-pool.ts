import type { Resources } from './resources.ts';

/**
 * Containers that are started before anybody asks for them.
 *
 *   making --> ready --claimed by a create--> the row is gone, a container's row has its place
 *      |         |
 *      +---------+--> removing --> gone, with its volume: nobody was ever given it
 *
 * A claim takes only what is ready, a removal first makes it not so: no member is both given away and removed.
 */
export type PoolMember = {
  readonly dbId: string;
  readonly state: 'making' | 'ready' | 'removing';
  readonly node: string;
  readonly image: string;
  /** What the reference stood for when the member was made. */
  readonly imageId: string;
  readonly resources: Resources;
  readonly volume: string;
  /** null while it is being made. */
  readonly runtimeId: string | null;
};

/** A member, and whether whoever was making or removing it has gone. */
export type WatchedMember = PoolMember & { readonly abandoned: boolean };

/** What the pool shall be made of; null when there is nothing to make it of now. */
export type PoolModel = Pick<PoolMember, 'node' | 'image' | 'imageId' | 'resources'>;

export type PoolPlan = { readonly remove: readonly PoolMember[]; readonly make: number };

/** Members are the first of their row. */
export const POOL_GENERATION = 1;

/** A member cannot know what it will be called, and no engine gives a running container another host name. */
export const POOL_HOSTNAME = 'workspace';

/**
 * What to remove and how many to make, so that `size` good ones are there or on their way. Members come oldest first;
 * `running` are those whose containers were seen to run after the rows were read.
 */
export function planPool(
  members: readonly WatchedMember[],
  running: ReadonlySet<string>,
  size: number,
  model: PoolModel | null,
): PoolPlan {
  const isGood = (one: PoolMember): boolean =>
    one.state === 'ready' && running.has(one.dbId) && model !== null && isOf(one, model);
  const coming = members.filter((one) => one.state === 'making' && !one.abandoned).length;
  const good = members.filter(isGood);
  const surplus = new Set(good.slice(0, Math.max(0, good.length + coming - size)));
  const leftBehind = members.filter((one) => one.state !== 'ready' && one.abandoned);
  const bad = members.filter((one) => one.state === 'ready' && (!isGood(one) || surplus.has(one)));
  const kept = good.length - surplus.size + coming;
  return { remove: [...leftBehind, ...bad], make: model === null ? 0 : Math.max(0, size - kept) };
}

const isOf = (one: PoolMember, { node, image, imageId, resources }: PoolModel): boolean =>
  one.node === node &&
  one.image === image &&
  one.imageId === imageId &&
  one.resources.memoryMb === resources.memoryMb &&
  one.resources.cpuMillicores === resources.cpuMillicores &&
  one.resources.diskMb === resources.diskMb;

/**
 * Which disk a member must have been made with to serve a request, in MB; null when any will do. Memory and processor
 * can be set afterwards. A disk whose size the engine enforces cannot, so it must have the size already.
 */
export const diskToClaim = (wanted: Resources, quota: 'hard' | 'soft'): number | null =>
  quota === 'hard' ? wanted.diskMb : null;
