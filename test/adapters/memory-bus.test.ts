import t from 'tap';
import { memoryBusHub } from '../../src/adapters/memory/index.ts';
import { busContract } from '../contract/bus.ts';

busContract(t, async () => {
  const hub = memoryBusHub();
  const [here, there] = [hub.join(), hub.join()];
  return { here, there, cut: async () => there.cut(), mend: async () => there.mend() };
});
