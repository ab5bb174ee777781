import { randomUUID } from 'node:crypto';
import type { ContainerSpec } from '../../src/ports/container-runtime.ts';

/** A container specification with the smallest limits; give what the test is about. */
export function aSpec(image: string, given: Partial<ContainerSpec> = {}): ContainerSpec {
  const dbId = given.dbId ?? randomUUID();
  return {
    dbId,
    ownerId: randomUUID(),
    generation: 1,
    operationId: randomUUID(),
    image,
    volume: `ws-${dbId}`,
    hostname: 'test',
    resources: { memoryMb: 512, cpuMillicores: 2000, diskMb: 512 },
    env: {},
    ...given,
  };
}
