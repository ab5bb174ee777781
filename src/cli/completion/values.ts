import type { Cli } from '../cli.ts';
import { copyEnds } from './paths.ts';
import type { Value } from './value.ts';

/** `word`: what has been typed so far. */
type Find = (cli: Cli, word: string) => Promise<readonly Value[]>;

const copied: Find = (cli, word) => copyEnds(cli, word, () => containerNames(cli));

/** What completes an argument, by the argument's name in the help: `[container]`, `<profile>`. */
export const VALUES: Readonly<Record<string, Find>> = {
  container: containerNames,
  containers: containerNames,
  source: copied,
  target: copied,
  'user-container': async (cli) => {
    const containers = await cli.berth().admin.containers.list().all();
    return containers.map(({ name, owner, status }) => ({
      value: `${owner.username}/${name}`,
      description: status,
    }));
  },
  profile: async ({ hosts }) =>
    Object.entries(hosts.read().profiles).map(([value, { server }]) => ({ value, description: server })),
};

async function containerNames(cli: Cli): Promise<readonly Value[]> {
  const berth = cli.berth();
  const containers = await berth.containers.list().all();
  return containers.map(({ name, status, image }) => ({ value: name, description: `${status}, ${image}` }));
}
