import { InvalidArgumentError, Option } from '@commander-js/extra-typings';

/** The option `-e NAME=value`, which may be repeated. */
export const variables = () =>
  new Option('-e, --env <name=value>', 'an environment variable; repeat it for more')
    .argParser(variable)
    .default({}, 'none');

/** The option `--label key=value`, which may be repeated. */
export const labels = () =>
  new Option('--label <key=value>', 'a label; repeat it for more').argParser(variable).default({}, 'none');

/** `NAME=value`, added to those before it. */
export function variable(text: string, before: Readonly<Record<string, string>>): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Give NAME=value.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}
