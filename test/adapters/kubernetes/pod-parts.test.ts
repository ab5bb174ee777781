import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { FILL_ACCOUNTS } from '../../../src/adapters/kubernetes/containers/pod-accounts.ts';
import { podState } from '../../../src/adapters/kubernetes/containers/pod-states.ts';
import { startedIn } from '../../support/kubernetes/cluster-runtime.ts';

const toolsImage = 'registry.example/base:1';

t.test(
  'an image without tmux gets it from the base image, confined like everything in its Pod',
  async (t) => {
    const { pod } = await startedIn(t, { toolsImage });
    const { initContainers, containers, volumes } = pod()['spec'];
    const fills = initContainers.find(({ name }: { name: string }) => name === 'tools');
    t.match(fills, { image: toolsImage, volumeMounts: [{ name: 'tools', mountPath: '/opt/berth' }] });
    t.same(fills.securityContext, containers[0].securityContext);
    t.same(fills.resources, containers[0].resources, 'it needs no more room than what follows it');
    t.match(
      containers[0].volumeMounts.find(({ name }: { name: string }) => name === 'tools'),
      { mountPath: '/opt/berth', readOnly: true },
    );
    t.ok(volumes.some(({ name }: { name: string }) => name === 'tools'));
  },
);

t.test('the base image itself needs none, and others have none without it', async (t) => {
  for (const given of [{ toolsImage: 'registry.example/box:1' }, { toolsImage: null }]) {
    const { initContainers, volumes } = (await startedIn(t, given)).pod()['spec'];
    t.notOk(initContainers.some(({ name }: { name: string }) => name === 'tools'));
    t.notOk(volumes.some(({ name }: { name: string }) => name === 'tools'));
  }
});

/** The names in a Pod whose image has these in `/etc`. */
function accountsOf(t: Test, image: Readonly<Record<string, string>>) {
  const folder = t.testdir();
  const [from, to] = [path.join(folder, 'etc'), path.join(folder, 'accounts')];
  for (const each of [from, to]) mkdirSync(each);
  for (const [name, text] of Object.entries(image)) writeFileSync(path.join(from, name), text);
  // A runtime may start it with any mask.
  const script = `umask 077\n${FILL_ACCOUNTS}`;
  execFileSync('sh', ['-c', script, 'berth', from, '1000'], { cwd: to });
  t.same(readdirSync(to), ['group', 'passwd']);
  for (const name of readdirSync(to)) t.equal(statSync(path.join(to, name)).mode & 0o777, 0o644, name);
  return ['passwd', 'group'].map((name) => readFileSync(path.join(to, name), 'utf8'));
}

t.test('the user of programs has a name, and the volume as home', async (t) => {
  const root = 'root:x:0:0:root:/root:/bin/bash\n';
  const node = 'node:x:1000:1000:Node,,,:/home/node:/bin/bash\n';
  for (const [what, image, passwd, group] of [
    [
      'an image without it',
      { passwd: root, group: 'root:x:0:\n' },
      /^root:.*\nberth:x:1000:1000::\/workspace:\/bin\/(ba)?sh\n$/,
      'root:x:0:\nberth:x:1000:\n',
    ],
    [
      'one that has it',
      { passwd: root + node, group: 'node:x:1000:\n' },
      `${root}node:x:1000:1000:Node,,,:/workspace:/bin/bash\n`,
      'node:x:1000:\n',
    ],
    [
      'one whose files have other lines, and no end of the last',
      {
        passwd: `${root}# accounts\nnode:x:1000:1000:a\\nb:/home/node:/bin/bash`,
        group: 'root:x:0:',
      },
      `${root}# accounts\nnode:x:1000:1000:a\\nb:/workspace:/bin/bash\n`,
      'root:x:0:\nberth:x:1000:\n',
    ],
    ['one without files', {}, /^berth:x:1000:/, 'berth:x:1000:\n'],
  ] as const)
    await t.test(what, async (t) => {
      const [seenPasswd = '', seenGroup] = accountsOf(t, image);
      if (typeof passwd === 'string') t.equal(seenPasswd, passwd);
      else t.match(seenPasswd, passwd);
      t.equal(seenGroup, group);
    });
});

t.test('a Pod whose preparation failed says why, as with an image without `sh`', (t) => {
  const message = 'exec: "sh": executable file not found in $PATH';
  const state = podState({
    metadata: { name: 'ws-one', uid: '1', resourceVersion: '1' },
    spec: {},
    status: {
      phase: 'Failed',
      initContainerStatuses: [
        { name: 'tools', state: { terminated: { exitCode: 0, reason: 'Completed' } } },
        { name: 'accounts', state: { terminated: { exitCode: 128, reason: 'StartError', message } } },
      ],
      containerStatuses: [{ name: 'workspace', state: { waiting: { reason: 'PodInitializing' } } }],
    },
  });
  t.same(state, { kind: 'ended', exitCode: 128, why: `StartError: ${message}` });
  t.end();
});

t.test('names are filled in by the image itself, and programs cannot change them', async (t) => {
  const { image, pod } = await startedIn(t);
  const { initContainers, containers } = pod()['spec'];
  t.match(initContainers, [{ name: 'accounts', image }]);
  for (const mountPath of ['/etc/passwd', '/etc/group'])
    t.match(
      containers[0].volumeMounts.find((one: { mountPath: string }) => one.mountPath === mountPath),
      { readOnly: true },
    );
});
