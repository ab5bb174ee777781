import t from 'tap';
import type { Role } from '../../src/domain/catalogue.ts';
import type { ContainerRuntime } from '../../src/ports/container-runtime.ts';
import type { RoleInstaller } from '../../src/ports/role-installer.ts';
import { aSpec } from '../support/container-spec.ts';
import { collect } from './container-commands.ts';

export type OpenInstaller = {
  readonly runtime: ContainerRuntime;
  readonly installer: RoleInstaller;
  readonly image: string;
};

export const scripted = (script: string): Role => ({ key: 'test', label: 'Test', packages: {}, script });

/** What every place must do that installs the tools of roles. */
export async function roleInstallerContract(
  name: string,
  { runtime, installer, image }: OpenInstaller,
): Promise<void> {
  await t.test(`${name}: RoleInstaller`, async (t) => {
    const handle = await runtime.create(aSpec(image));
    const install = async (script: string) => await installer.install(handle, scripted(script));
    /** One that is at work, and what becomes of it. */
    const begun = async () => {
      const running = await install('echo begun\nsleep 3600\necho never');
      const printed = Promise.withResolvers<void>();
      const left = collect(running, printed.resolve);
      await printed.promise;
      return { running, left };
    };
    await t.rejects(install('exit 0'), { name: 'RuntimeFailure', statusCode: 409 }, 'a stopped one refuses');
    await runtime.start(handle);

    await t.test('what it prints arrives, and how it ended', async (t) => {
      t.match(await collect(await install('echo one\necho two')), { stdout: /one\ntwo\n/, exitCode: 0 });
      t.match(await collect(await install('echo one\nexit 3\necho two')), { stdout: 'one\n', exitCode: 3 });
      const empty = await installer.install(handle, { ...scripted(''), script: null });
      t.match(await collect(empty), { exitCode: 0 });
    });

    await t.test('one that is ended is over soon', async (t) => {
      const { running, left } = await begun();
      await running.end();
      t.not((await left).exitCode, 0);
    });

    await t.test('the next one ends what an earlier one has left at work', async (t) => {
      const { left } = await begun();
      t.match(await collect(await install('echo second')), { stdout: 'second\n', exitCode: 0 });
      const ended = await left;
      t.not(ended.exitCode, 0);
      t.notMatch(ended.stdout, /never/);
    });

    await t.test('it ends with its container', async (t) => {
      const { left } = await begun();
      await runtime.stop(handle, 1);
      t.not((await left).exitCode, 0);
    });

    await runtime.remove(handle);
    await t.rejects(
      install('exit 0'),
      { name: 'RuntimeFailure', statusCode: 404 },
      'as does one that is gone',
    );
  });
}
