import type { Container } from '../../../domain/containers/container.ts';
import { type ActivityKind, RECORDED_EVERY_SECONDS } from '../../../domain/containers/lifetime/activity.ts';
import type {
  ContainerUse,
  LifetimeRepository,
} from '../../../ports/containers/lifetime/lifetime-repository.ts';

/** Uses that are in progress now. */
type UsesNow = () => readonly ContainerUse[] | Promise<readonly ContainerUse[]>;

export type ContainerUses = ReturnType<typeof containerUses>;

/**
 * Records what keeps containers from being idle. A use is on record before it begins, and again at each pass until it
 * ends, so that another process never sees a used container as idle.
 */
export function containerUses(
  { lifetimes }: { readonly lifetimes: Pick<LifetimeRepository, 'noteUses'> },
  monotonicMs: () => number,
) {
  /** The number in progress, by use. */
  const counts = new Map<string, { readonly use: ContainerUse; count: number }>();
  const notedAtMs = new Map<string, number>();
  const sources: UsesNow[] = [];

  const isDue = (key: string): boolean =>
    monotonicMs() - (notedAtMs.get(key) ?? Number.NEGATIVE_INFINITY) >= RECORDED_EVERY_SECONDS * 1_000;

  async function note(uses: readonly ContainerUse[]): Promise<void> {
    await lifetimes.noteUses(uses);
    for (const use of uses) notedAtMs.set(keyOf(use), monotonicMs());
  }

  function end(key: string): void {
    const entry = counts.get(key);
    if (entry === undefined) return;
    entry.count -= 1;
    if (entry.count === 0) counts.delete(key);
  }

  return {
    /** Records a use of any length, which goes on until the returned function is called. */
    async begin(
      { dbId, lifetime }: Pick<Container, 'dbId' | 'lifetime'>,
      kind: ActivityKind,
    ): Promise<() => void> {
      const use = { dbId, kind };
      const key = keyOf(use);
      if (lifetime.idleSeconds !== null && isDue(key)) await note([use]);
      const entry = counts.get(key) ?? { use, count: 0 };
      entry.count += 1;
      counts.set(key, entry);
      let isOver = false;
      return () => {
        if (!isOver) end(key);
        isOver = true;
      };
    },

    /** Adds uses that another part of the service knows of; asked at each pass. */
    watch: (source: UsesNow): void => void sources.push(source),

    /** Records all uses in progress; for a timer. */
    async keep(): Promise<void> {
      for (const [key, atMs] of notedAtMs)
        if (monotonicMs() - atMs > RECORDED_EVERY_SECONDS * 1_000) notedAtMs.delete(key);
      const ofSources = await Promise.all(sources.map((source) => source()));
      await note([...[...counts.values()].map(({ use }) => use), ...ofSources.flat()]);
    },
  };
}

const keyOf = ({ dbId, kind }: ContainerUse): string => `${dbId} ${kind}`;
