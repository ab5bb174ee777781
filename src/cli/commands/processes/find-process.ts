import type { Container, Process } from '../../../client/index.ts';
import type { Cli } from '../../cli.ts';
import { findOne } from '../../values/find.ts';

/** The process of a name or the start of an id; of several with a name, the one that runs or ran last. */
export async function findProcess(
  cli: Cli,
  container: Container,
  given: string | undefined,
): Promise<Process> {
  const all = await container.processes.list();
  const named = all.find(({ name }) => name === given);
  if (named !== undefined) return named;
  return await findOne(cli, all, given, {
    what: 'process',
    id: ({ id }) => id,
    names: ({ name, info }) => [name, `${name}, ${info.status}`],
    list: `berth ps ${container.name}`,
  });
}
