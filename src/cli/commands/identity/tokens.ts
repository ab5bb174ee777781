import { Argument, InvalidArgumentError } from '@commander-js/extra-typings';
import type { Schemas } from '../../../client/index.ts';
import { tokenTree } from '../../../client/token-tree.ts';
import type { Cli } from '../../cli.ts';
import { command, group, withCli } from '../../command.ts';
import type { Shown } from '../../io/printer.ts';
import { findOne } from '../../values/find.ts';
import { ago, seconds } from '../../values/times.ts';

type Token = Schemas['ApiToken'];
type Scope = Token['scopes'][number];

const SCOPES = ['read', 'write', 'admin'] as const;
const SECONDS_A_DAY = 86_400;

export const tokens = () =>
  group('tokens', 'API tokens, for programs', [list(), create(), derive(), revoke(), remove()]);

const list = () =>
  command('ls', 'List your API tokens')
    .alias('list')
    .action(
      withCli(async (cli) => {
        const listed = await all(cli);
        const tree = tokenTree(listed);
        const levels = new Map(tree.map(({ token, level }) => [token.id, level]));
        const inOrder = cli.print.form === 'table' ? tree.map(({ token }) => token) : listed;
        cli.print.list(inOrder, shown(levels));
      }),
    );

const create = () =>
  command('create', 'Create an API token; it is shown once')
    .argument('<name>', 'what it is for')
    .option('--scope <scopes>', 'what it may do: read, write, admin, separated by commas', scopes)
    .option('--expires <time>', 'when it ends, such as 12h or 90d; never if not given', seconds)
    .action(
      withCli(async (cli, name, { scope, expires }) => {
        const body = {
          name,
          ...(scope !== undefined && { scopes: scope }),
          ...(expires !== undefined && { expires_in: expires / SECONDS_A_DAY }),
        };
        printMade(cli, await cli.progress('Creating the token', cli.berth().tokens.create(body)));
      }),
    );

const derive = () =>
  command('derive', 'Create a token that can do at most what yours can, and ends with it')
    .argument('<name>', 'what it is for')
    .option('--container <name>', 'reach only this container; repeat it for several', oneMore)
    .option('--scope <scopes>', 'what it may do; the same as yours if not given', scopes)
    .option('--expires <time>', 'when it ends, such as 30m or 12h; when yours ends if not given', seconds)
    .option('--uses <count>', 'how many requests it may make', wholeNumber)
    .action(
      withCli(async (cli, name, { container, scope, expires, uses }) => {
        const body = {
          name,
          ...(container !== undefined && { containers: [...container] }),
          ...(scope !== undefined && { scopes: scope }),
          ...(expires !== undefined && { expires_in: expires / SECONDS_A_DAY }),
          ...(uses !== undefined && { max_uses: uses }),
        };
        printMade(cli, await cli.progress('Creating the token', cli.berth().tokens.derive(body)));
      }),
    );

const oneMore = (name: string, before: readonly string[] = []): readonly string[] => [...before, name];

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Give a whole number.');
  return Number(text);
}

/** As it is, so that a program can read it. */
function printMade(cli: Cli, made: Schemas['ApiTokenCreated']): void {
  cli.notify('Save this token. It is not shown again.');
  if (cli.print.form === 'json') cli.print.one(made, TOKENS_MADE);
  else cli.print.text(made.token);
}

function scopes(text: string): Scope[] {
  const given = text.split(',');
  const known = SCOPES.filter((scope) => given.includes(scope));
  if (known.length !== given.length) throw new InvalidArgumentError(`Give some of ${SCOPES.join(', ')}.`);
  return known;
}

const revoke = () =>
  command('revoke', 'Refuse an API token from now on; it stays in the list')
    .addArgument(aToken())
    .action(
      withCli(async (cli, given) => {
        const { id, name } = await find(cli, given);
        cli.print.done(await cli.berth().tokens.revoke(id), `${name} is revoked.`, name);
      }),
    );

const remove = () =>
  command('rm', 'Delete an API token')
    .alias('delete')
    .addArgument(aToken())
    .option('-y, --yes', 'do not ask')
    .action(
      withCli(async (cli, given, { yes = false }) => {
        const { id, name } = await find(cli, given);
        await cli.ask.confirm(`Delete the token ${name}?`, yes);
        cli.print.done(await cli.berth().tokens.delete(id), `${name} is deleted.`, name);
      }),
    );

const aToken = () => new Argument('[token]', 'its name, id or first characters');

const all = (cli: Cli): Promise<Token[]> => cli.progress('Listing tokens', cli.berth().tokens.list().all());

const find = async (cli: Cli, given: string | undefined): Promise<Token> =>
  findOne(cli, await all(cli), given, {
    what: 'token',
    id: ({ id }) => id,
    names: ({ name, token_prefix }) => [name, token_prefix],
    list: 'berth tokens ls',
  });

const limitsOf = ({ containers, uses_left }: Token): string =>
  [
    ...(containers === null ? [] : [`${containers.length} container${containers.length === 1 ? '' : 's'}`]),
    ...(uses_left === null ? [] : [`${uses_left} uses left`]),
  ].join(', ');

/** Below its parent a token's name is further to the right. */
const shown = (levels: ReadonlyMap<string, number>): Shown<Token> => ({
  columns: {
    name: ({ id, name }) => `${'  '.repeat(levels.get(id) ?? 0)}${name}`,
    starts: ({ token_prefix }) => `${token_prefix}…`,
    scopes: ({ scopes }) => scopes.join(','),
    limits: limitsOf,
    used: ({ last_used_at }) => ago(last_used_at),
    ends: ({ revoked_at, expires_at }) =>
      revoked_at === null ? ago(expires_at) : `revoked ${ago(revoked_at)}`,
    id: ({ id }) => id,
  },
  name: ({ name }) => name,
  empty: 'No API tokens. Create one: berth tokens create NAME',
});

const TOKENS_MADE: Shown<Schemas['ApiTokenCreated']> = { columns: {}, name: ({ token }) => token };
