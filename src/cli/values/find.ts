import { BerthError, type Container, type Schemas } from '../../client/index.ts';
import type { Cli } from '../cli.ts';
import { CliError, usageError } from '../cli-error.ts';
import { closest } from './closest.ts';

/** The container of a name or id. Without one a person picks; a program must name it. */
export async function findContainer(cli: Cli, given: string | undefined): Promise<Container> {
  const berth = cli.berth();
  if (given === undefined) {
    const all = await berth.containers.list().all();
    const picked = await pickOne(cli, 'container', all, ({ name }) => name, 'Create one: berth create NAME');
    return await berth.container(picked.db_id);
  }
  try {
    return await cli.progress(`Asking ${berth.server}`, berth.container(given));
  } catch (error) {
    if (!(error instanceof BerthError) || error.code !== 'container_not_found') throw error;
    const names = (await berth.containers.list().all()).map(({ name }) => name);
    throw unknown('container', given, names, 'See yours: berth ls');
  }
}

/** Several, or one that a person picks. */
export async function findContainers(cli: Cli, given: readonly string[]): Promise<readonly Container[]> {
  if (given.length === 0) return [await findContainer(cli, undefined)];
  const found: Container[] = [];
  for (const each of new Set(given)) found.push(await findContainer(cli, each));
  return found;
}

/** The deleted container of a name or id that was deleted last. */
export async function findDeleted(cli: Cli, given: string | undefined): Promise<Schemas['Container']> {
  const all = await cli.berth().containers.list({ deleted: 'true' }).all();
  const newest = all.toSorted((a, b) => (b.deleted_at ?? '').localeCompare(a.deleted_at ?? ''));
  if (given === undefined) return await pickOne(cli, 'container', newest, ({ name }) => name);
  const found = newest.find(({ name, db_id }) => name === given || db_id === given);
  if (found !== undefined) return found;
  const names = newest.map(({ name }) => name);
  throw unknown('deleted container', given, names, 'See them: berth ls --deleted');
}

/** How one kind of item is named: any of `names` finds it, or the start of its id. */
export type Named<T> = {
  readonly what: string;
  readonly id: (item: T) => string;
  readonly names: (item: T) => readonly (string | null)[];
  /** The command that lists them. */
  readonly list: string;
};

const SHORTEST_ID = 4;

/** The one item of a name or the start of an id; without one a person picks. A name never passes for an id. */
export async function findOne<T>(
  cli: Cli,
  items: readonly T[],
  given: string | undefined,
  { what, id, names, list }: Named<T>,
): Promise<T> {
  const label = (item: T) => names(item).find((name) => name !== null) ?? id(item);
  if (given === undefined) return await pickOne(cli, what, items, label);
  const found = foundBy(items, given, id, names);
  const [first, second] = found;
  if (first === undefined) throw unknown(what, given, items.map(label), `See them: ${list}`);
  if (second === undefined) return first;
  const ids = found.map(id).join(', ');
  throw new CliError(`Several ${what}s are called "${given}".`, {
    code: 'ambiguous',
    next: `Give an id: ${ids}`,
  });
}

function foundBy<T>(items: readonly T[], given: string, id: Named<T>['id'], names: Named<T>['names']) {
  const exact = items.filter((item) => id(item) === given);
  if (exact.length > 0) return exact;
  const isStart = given.length >= SHORTEST_ID;
  return items.filter((item) => names(item).includes(given) || (isStart && id(item).startsWith(given)));
}

async function pickOne<T>(
  { ask }: Cli,
  what: string,
  items: readonly T[],
  label: (item: T) => string,
  next?: string,
): Promise<T> {
  if (!ask.possible) throw usageError(`Name a ${what}.`);
  if (items.length === 0) throw new CliError(`There is no ${what}.`, next === undefined ? {} : { next });
  return await ask.pick(what, items, label);
}

function unknown(what: string, given: string, names: readonly string[], next: string): CliError {
  const near = closest(given, names);
  const hint = near === null ? '' : ` Did you mean ${near}?`;
  return new CliError(`There is no ${what} "${given}".${hint}`, { code: 'not_found', next });
}
