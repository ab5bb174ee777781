import { type ContainerRuntime, RuntimeFailure } from '../../src/ports/container-runtime.ts';

type Method = {
  [Name in keyof ContainerRuntime]: ContainerRuntime[Name] extends (...args: never[]) => Promise<unknown>
    ? Name
    : never;
}[keyof ContainerRuntime];

/** Its next call is refused, as an engine in trouble does; all later ones do what they did. */
export function failsOnce(runtime: ContainerRuntime, name: Method): void {
  const works = runtime[name];
  const fails = async (): Promise<never> => {
    Object.assign(runtime, { [name]: works });
    throw new RuntimeFailure('disk on fire', 500);
  };
  Object.assign(runtime, { [name]: fails });
}
