import type { Schemas } from '../../../client/index.ts';
import { command, withCli } from '../../command.ts';
import type { Shown } from '../../io/printer.ts';
import { sizeText } from '../../values/sizes.ts';

type Sum = Schemas['DeletedContainersSum'];

export const deleted = () =>
  command('deleted', 'Show how much the deleted containers of all users still use').action(
    withCli(async ({ berth, print, progress }) => {
      const sum = await progress('Summing up deleted containers', berth().admin.deletedContainers());
      print.one(sum, SUM);
    }),
  );

const SUM: Shown<Sum> = {
  columns: {
    containers: ({ count }) => String(count),
    disk: ({ used_mb }) => sizeText(used_mb),
    'kept for': ({ retention_days }) => `${retention_days} days, and one more`,
  },
  name: ({ count }) => String(count),
};
