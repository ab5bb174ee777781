import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { Test } from 'tap';
import { aSpec } from './container-spec.ts';
import type { TestInstance } from './engine.ts';

const MIB = 1024 * 1024;

/** An image that holds one file, a static BusyBox, or null where that can not be had. */
export async function bareImage(
  t: Test,
  { docker, runtime, image, instanceId }: TestInstance,
): Promise<string | null> {
  const handle = await runtime.create(aSpec(image));
  await runtime.start(handle);
  const script = `apt-get -qq update >&2 && apt-get -qq install busybox-static >&2 &&
    mkdir -p /opt/bare/bin && cp /bin/busybox /opt/bare/bin && cd /opt/bare &&
    for tool in $(busybox --list); do ln -s busybox bin/$tool; done && tar -c . 2>/dev/null`;
  const request = { command: ['sh', '-c', script], timeoutSeconds: 120, maxOutputBytes: 16 * MIB };
  const { exitCode, stdout } = await runtime.exec(handle, request);
  if (exitCode !== 0) return null;
  const repo = 'berth-test-bare';
  const done = await docker.importImage(Readable.from([stdout]), { repo, tag: instanceId });
  await once(done.resume(), 'end');
  const reference = `${repo}:${instanceId}`;
  t.teardown(() => docker.getImage(reference).remove({ force: true }));
  return reference;
}
