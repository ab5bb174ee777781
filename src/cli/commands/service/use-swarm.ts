import { command } from '../../command.ts';
import { onTheService } from './migrate.ts';

export const useSwarm = () =>
  command('use-swarm', 'On the server: use another Swarm, without the containers of the present one')
    .requiredOption('--id <swarm>', 'the id of the other Swarm, or none')
    .action(() => {
      throw onTheService('use-swarm');
    });
