import { randomUUID } from 'node:crypto';
import type {
  ContainerRuntime,
  ContainerSpec,
  RuntimeHandle,
} from '../../../src/ports/containers/container-runtime.ts';

/** Runs programs of a shell in a container; anything but exit 0 is thrown. */
export const shellIn =
  (runtime: ContainerRuntime, handle: RuntimeHandle, timeoutSeconds = 60) =>
  async (script: string): Promise<string> => {
    const request = { command: ['sh', '-c', script], timeoutSeconds, maxOutputBytes: 1_000_000 };
    const { exitCode, stdout, stderr } = await runtime.exec(handle, request);
    if (exitCode !== 0) throw new Error(`${script} ended with ${exitCode}: ${stderr}`);
    return stdout.toString().trim();
  };

/** How many processes of the service's programs and commands are at work in the container, beside this look. */
export const markedProcesses = (sh: (script: string) => Promise<string>): Promise<number> =>
  sh(`for f in /proc/[0-9]*/environ; do tr '\\0' '\\n' < $f; done 2>/dev/null |
    grep ^BERTH_EXEC= | grep -vcF "$BERTH_EXEC" || true`).then(Number);

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
