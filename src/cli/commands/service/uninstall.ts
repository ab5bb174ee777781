import { command } from '../../command.ts';
import { onTheService } from './migrate.ts';

export const uninstall = () =>
  command('uninstall', 'On the machine of the service: remove everything of it, for good')
    .option('--yes', 'do not ask')
    .action(() => {
      throw onTheService('uninstall');
    });
