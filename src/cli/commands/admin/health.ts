import { Option } from '@commander-js/extra-typings';
import type { Schemas } from '../../../client/index.ts';
import { command, withCli } from '../../command.ts';
import type { Shown } from '../../io/printer.ts';
import { count } from '../../values/count.ts';
import { ago, lengthText } from '../../values/times.ts';

type ComponentHealth = Schemas['Health']['components'][number];
type Outage = Schemas['Outage'];

const USUAL_LIMIT = 50;
const COMPONENTS = ['service', 'database', 'engine', 'image', 'disk', 'isolation', 'replicas'] as const;

export const health = () =>
  command('health', 'Show the health of the server, or its outages')
    .option('--history', 'list the outages, newest first')
    .addOption(new Option('--component <component>', 'only its outages').choices(COMPONENTS))
    .option('--limit <count>', 'how many outages; 50 if not given', count)
    .action(
      withCli(async ({ berth, print, progress }, { history, component, limit }) => {
        const { health } = berth().admin;
        if ([history, component, limit].every((option) => option === undefined)) {
          const now = await progress('Asking the server', health.get());
          if (print.form === 'json') return print.text(JSON.stringify(now));
          return print.list(now.components, NOW);
        }
        const found: Outage[] = [];
        for await (const outage of health.history(component === undefined ? {} : { component })) {
          if (found.length >= (limit ?? USUAL_LIMIT)) break;
          found.push(outage);
        }
        print.list(found, HISTORY);
      }),
    );

const NOW: Shown<ComponentHealth> = {
  columns: {
    component: ({ component }) => component,
    state: ({ state }) => state,
    since: ({ since }) => ago(since),
    detail: ({ state, summary, detail }) =>
      state === 'ready' || state === 'testing' ? '' : (detail ?? summary),
    'what to do': ({ advice }) => advice ?? '',
  },
  name: ({ component }) => component,
};

const HISTORY: Shown<Outage> = {
  columns: {
    began: ({ from }) => ago(from),
    outage: ({ summary }) => summary,
    state: ({ state }) => state,
    lasted: ({ seconds }) => (seconds === null ? 'not over' : lengthText(seconds)),
    detail: ({ detail }) => detail ?? '',
  },
  name: ({ id }) => id,
  empty: 'No outage is on record.',
};
