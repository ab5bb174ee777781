import type { Schemas } from '../../../client/index.ts';
import { usageError } from '../../cli-error.ts';
import { command, group, withCli } from '../../command.ts';
import { closest } from '../../values/closest.ts';

type Setting = { readonly name: string; readonly value: unknown };

export const settings = () => group('settings', 'Settings of the server', [list(), set()]);

const list = () =>
  command('ls', 'List the settings')
    .alias('list')
    .action(
      withCli(async ({ berth, print }) => {
        const read = await berth().admin.settings.get();
        if (print.form === 'json') return print.text(JSON.stringify(read));
        print.list(listed(read), {
          columns: { setting: ({ name }) => name, value: ({ value }) => String(value) },
          name: ({ name }) => name,
        });
      }),
    );

const set = () =>
  command('set', 'Change settings')
    .argument('<setting=value...>', 'such as retention_days=14 or open_registration=false')
    .action(
      withCli(async ({ berth, print }, given) => {
        const { admin } = berth();
        const known = listed(await admin.settings.get());
        const change = Object.fromEntries(given.map((text) => readChange(text, known)));
        print.done(
          await admin.settings.update(change as Schemas['SettingsChange']),
          'The settings are changed.',
        );
      }),
    );

const listed = (read: Schemas['Settings']): Setting[] =>
  Object.entries(read).map(([name, value]) => ({ name, value }));

/** The value in the type that the setting has now. */
function readChange(text: string, known: readonly Setting[]): [string, unknown] {
  const at = text.indexOf('=');
  const name = text.slice(0, Math.max(at, 0));
  const value = text.slice(at + 1);
  const present = known.find((setting) => setting.name === name);
  if (at < 1) throw usageError(`"${text}" is not SETTING=VALUE.`);
  if (present === undefined) {
    const names = known.map((setting) => setting.name);
    const near = closest(name, names);
    throw usageError(
      `There is no setting "${name}".`,
      near === null ? names.join(', ') : `Did you mean ${near}?`,
    );
  }
  if (typeof present.value === 'boolean') {
    if (!/^(true|false)$/.test(value)) throw usageError(`${name} is true or false.`);
    return [name, value === 'true'];
  }
  if (typeof present.value === 'string') return [name, value];
  if (!/^\d+$/.test(value)) throw usageError(`${name} is a whole number.`);
  return [name, Number(value)];
}
