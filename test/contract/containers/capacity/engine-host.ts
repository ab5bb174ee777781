import type { Test } from 'tap';
import type { EngineHost } from '../../../../src/ports/containers/capacity/engine-host.ts';

export type OpenHost = {
  readonly host: EngineHost;
  /** Of a container that runs. */
  readonly runtimeId: string;
};

/** Guarantees of measuring an engine's machine from this one. */
export async function engineHostContract(t: Test, { host, runtimeId }: OpenHost): Promise<void> {
  for (const reading of [await host.figures(), await host.figures()]) {
    const { cpuMillicores, cpuUsedMillicores, memoryBytes, memoryUsedBytes, images } = reading;
    t.ok((cpuMillicores ?? 0) >= 1000, `${cpuMillicores} millicores`);
    t.ok((memoryBytes ?? 0) > 128 * 1024 ** 2, `${memoryBytes} bytes of memory`);
    // Without a part that the kernel counts twice: at most what there is, and a little for the time between readings.
    t.ok(cpuUsedMillicores !== null && cpuUsedMillicores >= 0, `${cpuUsedMillicores} used`);
    t.ok((cpuUsedMillicores ?? 0) <= (cpuMillicores ?? 0) * 1.2, `${cpuUsedMillicores} of ${cpuMillicores}`);
    t.ok((memoryUsedBytes ?? 0) > 0 && (memoryUsedBytes ?? 0) <= (memoryBytes ?? 0), `${memoryUsedBytes}`);
    t.ok((images?.count ?? 0) > 0 && (images?.bytes ?? 0) > 0, JSON.stringify(images));
  }
  const load = (await host.loads())?.get(runtimeId);
  t.ok(load !== undefined && load.memoryBytes >= 0 && load.cpuMillicores >= 0, JSON.stringify(load));
  t.ok((load?.memoryBytes ?? 0) < 1024 ** 3, 'in bytes');
  t.ok((load?.cpuMillicores ?? 0) < 64_000, 'in millicores');
}
