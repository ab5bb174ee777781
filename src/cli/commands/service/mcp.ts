import { Berth, BerthError } from '../../../client/index.ts';
import { type Cli, targetIn } from '../../cli.ts';
import { command, withCli } from '../../command.ts';
import { tokenSource } from '../../connect.ts';
import { USER_AGENT, VERSION } from '../../version.ts';

/** Longer than the longest command of a tool. */
const TIMEOUT_MS = 700_000;

const HELP = `
An MCP client, such as a desktop assistant, starts this command. Give it a token for one container:
  BERTH_TOKEN=svc_… berth mcp --container dev
`;

export const mcp = () =>
  command('mcp', 'Give an assistant tools for containers, over stdio')
    .option('--container <name>', 'offer only this container; repeat it for several', oneMore)
    .option('--allow-delete', 'also offer to delete containers')
    .addHelpText('after', HELP)
    .action(
      withCli(async (cli, { container, allowDelete = false }) => {
        const berth = connect(cli);
        const mayCreate = container === undefined && (await mayCreateContainers(berth));
        const scope = { containers: container ?? null, mayCreate, mayDelete: allowDelete };
        // why: no other command needs it, and it takes a while to load
        const { serveOverStdio } = await import('../../../mcp/stdio.ts');
        await serveOverStdio({ berth, scope, notifies: true }, VERSION, {
          input: cli.io.in,
          output: cli.io.out,
        });
      }),
    );

const oneMore = (name: string, before: readonly string[] = []): readonly string[] => [...before, name];

function connect(cli: Cli): Berth {
  const target = targetIn(cli);
  const token = tokenSource(target, cli.hosts);
  return new Berth({
    server: target.server,
    token,
    headers: { 'user-agent': USER_AGENT },
    timeoutMs: TIMEOUT_MS,
  });
}

/** Whether the token is for all containers. Fails here, not in a tool, when the service refuses it. */
async function mayCreateContainers(berth: Berth): Promise<boolean> {
  try {
    await berth.me.get();
    return true;
  } catch (error) {
    if (error instanceof BerthError && error.code === 'token_restricted') return false;
    throw error;
  }
}
