import type { Cli } from '../cli.ts';

export type Value = { readonly value: string; readonly description: string };

/** What completes an argument, by the argument's name in the help: `[container]`, `<profile>`. */
export const VALUES: Readonly<Record<string, (cli: Cli) => Promise<readonly Value[]>>> = {
  container: containerNames,
  containers: containerNames,
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
