import { command } from '../../command.ts';
import { onTheService } from './migrate.ts';

export const uninstall = () =>
  command('uninstall', 'On the server: remove Berth and all its data for good')
    .option('--yes', 'do not ask')
    .action(() => {
      throw onTheService('uninstall');
    });
