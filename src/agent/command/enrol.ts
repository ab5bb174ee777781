import { enrol as exchange } from '../identity/enrol.ts';
import { identityFor, keepIdentity, stateFolder } from '../identity/state-file.ts';
import { agentCommand, say, secretFromInput, serverOf } from './options.ts';

/** `berth agent enrol`: exchanges a one-time code for this machine's own token. */
export const enrol = () =>
  agentCommand('enrol', 'Exchange a one-time code, from standard input, for a token of this machine').action(
    async (own, command) => {
      const options = { ...command.parent?.opts(), ...own };
      const server = serverOf(options);
      const folder = stateFolder(process.env);
      const identity = await identityFor(folder, server, options.name);
      const token = await exchange(server, await secretFromInput('Code'), identity);
      await keepIdentity(folder, server, { ...identity, token });
      say(`enrolled at ${server} as "${identity.name}". Start it: berth agent --server ${server}`);
    },
  );
