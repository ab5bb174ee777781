import type Docker from 'dockerode';
import { type EngineCalls, LIMITS } from './engine-client.ts';
import { PASSING_LABEL } from './engine-names.ts';

const MIB = 1024 * 1024;

type OneShotMount = { readonly volume: string; readonly at: string; readonly isReadOnly: boolean };

const asMount = ({ volume, at, isReadOnly }: OneShotMount) =>
  ({ Type: 'volume', Source: volume, Target: at, ReadOnly: isReadOnly }) as const;

export type OneShot = {
  readonly instanceId: string;
  readonly image: string;
  readonly entrypoint: readonly string[];
  readonly mount?: OneShotMount;
  readonly otherMount?: OneShotMount;
  readonly rights?: Pick<Docker.HostConfig, 'CapAdd' | 'PidsLimit' | 'SecurityOpt'>;
  /** In place of a container without a network: one that works on the engine's machine. */
  readonly onHost?: Pick<Docker.HostConfig, 'NetworkMode' | 'UsernsMode' | 'Mounts'>;
};

/**
 * A container that exists only during `use` and reaches nothing but its volumes. Its own label, instead of the
 * installation's, distinguishes it from workspaces.
 */
export async function runOneShot<T>(
  { docker, change }: EngineCalls,
  { instanceId, image, entrypoint, mount, otherMount, rights, onHost }: OneShot,
  use: (container: Docker.Container) => Promise<T>,
): Promise<T> {
  const container = await change(LIMITS.create, (abortSignal) =>
    docker.createContainer({
      Image: image,
      Labels: { [PASSING_LABEL]: instanceId },
      Entrypoint: [...entrypoint],
      Cmd: [],
      User: '0:0',
      HostConfig: {
        NetworkMode: 'none',
        Memory: 128 * MIB,
        CapDrop: ['ALL'],
        SecurityOpt: ['no-new-privileges'],
        Mounts: [mount, otherMount].filter((each) => each !== undefined).map(asMount),
        ...rights,
        ...onHost,
      },
      abortSignal,
    }),
  );
  try {
    await change(LIMITS.start, (abortSignal) => container.start({ abortSignal }));
    return await use(container);
  } finally {
    await change(LIMITS.start, (abortSignal) => container.remove({ force: true, abortSignal })).catch(
      () => {},
    );
  }
}
