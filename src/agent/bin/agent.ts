import { CommanderError } from '@commander-js/extra-typings';
import { enrol } from '../command/enrol.ts';
import { install, uninstall } from '../command/install.ts';
import { say } from '../command/options.ts';
import { run } from '../command/run.ts';
import { EXIT } from '../connection/next-try.ts';
import { SetupFault } from '../identity/credential.ts';
import { terminalModuleFault } from '../shells/terminal-module.ts';

const EX_USAGE = 2;
/** Older ones lose the end of a program's output in a pseudo-terminal. */
const OLDEST_NODE = 22;

async function main(): Promise<void> {
  const version = process.versions.node;
  if (Number.parseInt(version, 10) < OLDEST_NODE)
    throw new SetupFault(`the agent needs Node.js ${OLDEST_NODE} or newer, and this is ${version}`);
  const fault = terminalModuleFault();
  if (fault !== null) throw new SetupFault(fault);
  const program = run().name('berth agent').enablePositionalOptions();
  for (const command of [enrol(), install(), uninstall()]) program.addCommand(command.exitOverride());
  await program.exitOverride().parseAsync();
}

await main().catch((error: unknown) => {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : EX_USAGE;
  else if (error instanceof SetupFault) {
    say(error.message);
    process.exitCode = EXIT.configuration;
  } else throw error;
});
