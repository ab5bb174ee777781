import { command } from '../../command.ts';
import { onTheService } from './migrate.ts';

export const useSwarm = () =>
  command('use-swarm', "On the server: switch to another Swarm and leave the current one's containers behind")
    .requiredOption('--id <swarm>', 'the id of the other Swarm, or none')
    .action(() => {
      throw onTheService('use-swarm');
    });
