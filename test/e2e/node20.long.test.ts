import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { aFolder } from '../support/folder.ts';
import { needs } from '../support/run/infra.ts';
import { BUILT, theCommand } from '../support/service/command.ts';
import { anApiToken, aPerson, aService } from '../support/service/service.ts';
import { serverOf } from '../support/terminal/terminals.ts';

const CLIENT = path.resolve('dist/client/index.js');

/** Node.js 20 as the only one in the path, and a service. */
async function aScene(t: Test) {
  const node = await needs(t, 'node20');
  if (node === null) return null;
  const service = await aService();
  const server = await serverOf(t, service);
  const { token } = await anApiToken(service, await aPerson(service, 'ada'));
  const bin = path.join(aFolder(t), 'bin');
  mkdirSync(bin);
  symlinkSync(node.program, path.join(bin, 'node'));
  const env = { PATH: `${bin}:/usr/bin:/bin`, BERTH_SERVER: server, BERTH_TOKEN: token };
  return { node, server, token, env };
}

t.test('the built client runs on Node.js 20', async (t) => {
  const scene = await aScene(t);
  if (scene === null) return;
  const file = path.join(aFolder(t), 'program.mjs');
  writeFileSync(
    file,
    `import { Berth } from ${JSON.stringify(CLIENT)};
    const berth = new Berth();
    const events = berth.events();
    await events.connected;
    const box = await berth.create({ name: 'dev' });
    const { value: event } = await events.next();
    await events.return();
    const cat = await box.exec(['cat'], { stdin: true });
    await cat.write('bytes');
    await cat.closeInput();
    let text = '';
    for await (const { bytes } of cat) text += Buffer.from(bytes);
    const copy = await box.processes.start(['cat'], { stdin: true });
    await copy.write('kept');
    await copy.closeInput();
    const { exitCode } = await copy.wait();
    await box.files.write('a.txt', 'a file');
    const terminal = await box.terminal();
    const point = terminal.detach();
    const again = await box.terminal({ resume: point });
    again.close();
    const files = await box.files.watch('');
    await files.return();
    console.log(JSON.stringify([process.version.slice(0, 3), event.type, text, exitCode, await box.files.read('a.txt'), point.stream !== '']));`,
  );
  const { stdout } = await promisify(execFile)(scene.node.program, [file], { env: scene.env });
  t.same(JSON.parse(stdout), ['v20', 'container_created', 'bytes', 0, 'a file', true]);
});

t.test('the built command runs on Node.js 20', async (t) => {
  const scene = await aScene(t);
  if (scene === null) return;
  const { server, token, node } = scene;
  const { run } = theCommand(t, server, token, BUILT, node.program);
  for (const [args, wanted] of [
    [['--version'], { code: 0, stdout: /^\d+\.\d+\.\d+\n$/ }],
    [['create', 'dev'], { code: 0, stderr: /dev is running/ }],
    [['exec', 'dev', '--', 'cat'], { code: 0, stdout: 'from here' }],
    [['run', 'dev', '--', 'true'], { code: 0 }],
    [['ps', '-a', 'dev'], { code: 0 }],
    [['doctor'], { stdout: /signed in as ada/ }],
    [['completion', 'bash'], { code: 0, stdout: /complete/ }],
  ] as const) {
    t.match(await run(args, 'from here'), wanted, args.join(' '));
  }
});
