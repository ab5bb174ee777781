import { capacityRoutes } from '../../../adapters/http/routes/service/capacity.ts';
import { capacityGauges } from '../../containers/capacity/capacity-gauges.ts';
import { hostReading } from '../../containers/capacity/host-reading.ts';
import { readCapacity } from '../../containers/capacity/read-capacity.ts';
import { readUsage } from '../../containers/capacity/read-usage.ts';
import type { AllPorts, ComposeOptions } from '../compose-options.ts';

/** What the engine's machine has, and what everybody uses of it. */
export function wireCapacity(
  { storage, clock, host, runtime, runtimeNode: node, metrics, monotonicMs }: AllPorts,
  { containers: { diskFloorMb } }: ComposeOptions,
) {
  const read = hostReading({ host, runtime, monotonicMs });
  const deps = { storage, clock, read, settings: { node, diskFloorMb } };
  const capacity = readCapacity(deps);
  return {
    routes: capacityRoutes({ capacity, usage: readUsage({ storage, read, monotonicMs }) }),
    work: { readCapacity: capacityGauges(metrics, capacity) },
  };
}
