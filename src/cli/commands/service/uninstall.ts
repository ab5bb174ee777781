import { command } from '../../command.ts';
import { onTheService } from './migrate.ts';

export const uninstall = () =>
  command('uninstall', 'On the server: remove Berth and all its data permanently')
    .option('--yes', 'do not ask')
    .option(
      '--forget-engine <engine>',
      'remove nothing from an engine or a Swarm that is gone for good; may be repeated',
    )
    .option('--old-swarm <swarm>', 'remove also from a Swarm that Berth has left; may be repeated')
    .action(() => {
      throw onTheService('uninstall');
    });
