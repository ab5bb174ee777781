import { type KnownNames, sentenceText } from '../../../client/audit/sentence.ts';
import { auditSentence, containersIn, namesIn } from '../../../client/audit/sentences.ts';
import { type Berth, hasStatus, type List, type Schemas } from '../../../client/index.ts';
import { command, withCli } from '../../command.ts';
import type { Shown } from '../../io/printer.ts';
import { count } from '../../values/count.ts';
import { pointInTime } from '../../values/times.ts';
import { onTheService } from './migrate.ts';

type AuditRecord = Schemas['AuditRecord'];

const HELP = `
Examples:
  berth audit --from 2h
  berth audit --action command_run --limit 20 -o json
  berth audit --all --user ada --from 2026-03-01
`;

export const audit = () =>
  command('audit', 'Show who did what, newest first')
    .option('--action <action>', 'only this action, such as container_started')
    .option('--from <time>', 'since this time, such as 2h or 2026-03-01', pointInTime)
    .option('--to <time>', 'until this time', pointInTime)
    .option('--limit <count>', 'at most this many records', count, 50)
    .option('--all', 'of all users, for administrators')
    .option('--user <name>', 'of one user, for administrators')
    .addHelpText('after', HELP)
    .addCommand(verify())
    .action(
      withCli(async (cli, { action, from, to, limit, all = false, user }) => {
        const filter = {
          ...(action !== undefined && { action }),
          ...(from !== undefined && { from }),
          ...(to !== undefined && { to }),
        };
        const { audit: ownAudit, admin, containers } = cli.berth();
        const isOwn = !all && user === undefined;
        const list = isOwn
          ? ownAudit.list(filter)
          : admin.audit.list({ ...filter, ...(user !== undefined && { user }) });
        const [records, ownNames] = await cli.progress(
          'Reading the audit',
          Promise.all([first(list, limit), containerNames(containers)]),
        );
        const unnamed = isOwn ? [] : containersIn(records).filter((id) => !ownNames.has(id));
        const names = new Map([...namesIn(records), ...ownNames, ...(await namesOfAll(admin, unnamed))]);
        cli.print.list(records, isOwn ? own(names) : ofAll(names));
      }),
    );

const verify = () =>
  command('verify', 'On the server: check that no record was changed')
    .allowExcessArguments()
    .allowUnknownOption()
    .action(() => {
      throw onTheService('audit verify');
    });

async function first(list: List<AuditRecord>, limit: number): Promise<AuditRecord[]> {
  const records: AuditRecord[] = [];
  for await (const record of list) {
    records.push(record);
    if (records.length >= limit) break;
  }
  return records;
}

/** The names of the reader's containers by id, deleted ones too. None for a token that may not list them. */
async function containerNames(containers: Berth['containers']): Promise<KnownNames> {
  const lists = [containers.list({ deleted: 'true' }), containers.list()];
  const all = await Promise.all(lists.map((list) => list.all().catch(noneWhenRefused)));
  return new Map(all.flat().map(({ db_id, name }) => [db_id, name]));
}

/** The most ids that a request takes. */
const AT_ONCE = 100;

/** The names of anybody's containers with these ids, as far as they exist or can be restored. */
async function namesOfAll({ containers }: Berth['admin'], ids: readonly string[]): Promise<KnownNames> {
  const names = new Map<string, string>();
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const query = { ids: ids.slice(from, from + AT_ONCE).join(',') };
    const lists = [containers.list(query), containers.list({ ...query, deleted: 'true' })];
    const all = await Promise.all(lists.map((list) => list.all().catch(noneWhenRefused)));
    for (const { db_id, name } of all.flat()) names.set(db_id, name);
  }
  return names;
}

function noneWhenRefused(error: unknown): [] {
  if (hasStatus(error, 403)) return [];
  throw error;
}

const own = (names: KnownNames): Shown<AuditRecord> => ({
  columns: {
    time: ({ created_at }) => created_at,
    what: (record) => sentenceText(auditSentence(record), names),
    action: ({ action }) => action,
    from: ({ ip_address }) => ip_address,
  },
  name: ({ id }) => id,
  empty: 'No records.',
});

const ofAll = (names: KnownNames): Shown<AuditRecord> => ({
  ...own(names),
  columns: { user: ({ username, user_id }) => username ?? user_id ?? '–', ...own(names).columns },
});
