import type Docker from 'dockerode';
import { ImageUnavailable } from '../../../ports/containers/container-runtime.ts';
import { type EngineCalls, engineVersion, LIMITS } from '../../docker/engine/engine-client.ts';

/** The image is for another CPU architecture than its node has, and may fit another node. */
export class OtherPlatform extends ImageUnavailable {}

/** Architectures that some CPUs run besides their own, as images name them. */
const ALSO: Readonly<Record<string, readonly string[]>> = { amd64: ['386'], arm64: ['arm'] };

const known = new WeakMap<EngineCalls, Promise<string | undefined>>();

/** Of the engine's machine, as images name it. */
async function architectureOf(calls: EngineCalls): Promise<string | undefined> {
  const asked =
    known.get(calls) ??
    calls.read(LIMITS.inspect, async (signal) => {
      const { Arch } = (await engineVersion(calls.docker, signal)) as { readonly Arch?: string };
      return Arch;
    });
  known.set(calls, asked);
  return await asked.catch((error: unknown) => {
    known.delete(calls);
    throw error;
  });
}

/** Throws `OtherPlatform` for an image that does not run on the machine of its engine: its programs would only fail. */
export async function requireRunnable(
  calls: EngineCalls,
  reference: string,
  { Architecture }: Pick<Docker.ImageInspectInfo, 'Architecture'>,
): Promise<void> {
  const has = await architectureOf(calls);
  if (!has || !Architecture || Architecture === has || ALSO[has]?.includes(Architecture)) return;
  throw new OtherPlatform(`image ${reference} is for ${Architecture}, and its node has ${has}`);
}
