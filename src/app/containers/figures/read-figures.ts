import { isAgent } from '../../../domain/containers/agents/agent.ts';
import type { Container } from '../../../domain/containers/container.ts';
import type { Figures } from '../../../domain/containers/figures/figures.ts';
import type { Caller } from '../../../domain/identity/caller.ts';
import type { Storage } from '../../../ports/storage.ts';
import { handleOf, listVisible } from '../find-container.ts';
import type { FigureSampler } from './figure-sampler.ts';

/** A container with its figures; `figures` is null before the first measurement. */
export type FiguresOf = { readonly container: Container; readonly figures: Figures | null };

/**
 * The figures of the caller's running containers among these ids; others are left out. It asks no engine:
 * what is not measured yet will be soon.
 */
export const readFigures =
  ({ repositories }: Pick<Storage, 'repositories'>, sampler: FigureSampler) =>
  async (dbIds: ReadonlySet<string>, caller: Caller): Promise<readonly FiguresOf[]> => {
    const visible = await listVisible(repositories, caller);
    const found = visible.flatMap(({ container }): FiguresOf[] => {
      const handle = handleOf(container);
      const isMeasured = container.state === 'running' && !isAgent(container) && handle !== null;
      if (!isMeasured || !dbIds.has(container.dbId)) return [];
      return [{ container, figures: sampler.follow(container.dbId, handle) }];
    });
    const fresh = found.filter(({ figures }) => figures === null).map(({ container }) => container.dbId);
    void sampler.measureNow(fresh);
    return found;
  };
