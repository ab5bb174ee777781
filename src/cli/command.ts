import { Command } from '@commander-js/extra-typings';
import { type Cli, openCli } from './cli.ts';
import { type AnyCommand, globalOptionsOf, ioOf } from './options.ts';
import { noteNewerVersion } from './version-note.ts';

/** A command that acts. Every file of `commands` makes one by this. */
export const command = (name: string, description: string) => new Command(name).description(description);

/** A command that only has subcommands. */
export function group(name: string, description: string, commands: readonly AnyCommand[]): AnyCommand {
  const parent = new Command(name).description(description).helpCommand(false);
  for (const each of commands) parent.addCommand(each);
  return parent;
}

/** Runs an action with what commands need: the service, the terminal, the profiles. */
export const withCli =
  <A extends unknown[]>(act: (cli: Cli, ...args: A) => Promise<void>) =>
  async (...args: A): Promise<void> => {
    // commander passes the command itself last
    const own = args.at(-1) as AnyCommand;
    const cli = openCli(ioOf(own), globalOptionsOf(own));
    let isConnected = false;
    const berth = () => {
      isConnected = true;
      return cli.berth();
    };
    await act({ ...cli, berth }, ...args);
    if (isConnected) await noteNewerVersion(cli);
  };
