import { tokenFrom } from '../identity/credential.ts';
import { identityFor, stateFolder } from '../identity/state-file.ts';
import { runAgent } from '../run-agent.ts';
import { VERSION } from '../version.ts';
import { agentCommand, say, serverOf } from './options.ts';

const HELP = `
The token comes from BERTH_TOKEN, a file that only you can read, or an enrolment:
  BERTH_TOKEN=svc_… berth agent --server https://berth.example.com
  berth agent enrol --server https://berth.example.com   # asks for a one-time code
  berth agent install                                    # starts it with the machine
`;

/** `berth agent`: runs in the foreground until it is stopped. */
export const run = () =>
  agentCommand('agent', 'Offer the shells, commands and files of this machine in Berth')
    .option('--token-file <file>', 'a file with the API token (scope write), mode 600')
    .option('--token <token>', 'the API token; others on this machine can read it here')
    .addHelpText('after', HELP)
    .action(async (options) => {
      const server = serverOf(options);
      const identity = await identityFor(stateFolder(process.env), server, options.name);
      const { token: given, tokenFile } = options;
      if (given !== undefined) say('others on this machine can read the token: better use --token-file');
      const token = await tokenFrom({ server, token: given, tokenFile, identity, env: process.env });
      const controller = new AbortController();
      const stop = (): void => {
        // a second signal ends it at once
        for (const name of ['SIGINT', 'SIGTERM']) process.removeListener(name, stop);
        controller.abort();
      };
      process.on('SIGINT', stop).on('SIGTERM', stop);
      const { signal } = controller;
      process.exitCode = await runAgent({ server, token, identity, version: VERSION, say, signal });
    });
