import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import t from 'tap';
import { readConfig } from '../../src/app/main/config.ts';

const read = (name: string): string => readFileSync(`docs/deploy/${name}`, 'utf8');

/** Variables of the build alone. */
const OF_THE_BUILD = new Set(['BERTH_NODE_IMAGE', 'BERTH_POSTGRES_IMAGE']);

t.test('the deployments set only settings that exist', async (t) => {
  for (const name of ['berth.service', 'berth.env', 'compose.yaml', 'Dockerfile']) {
    const settings = [...read(name).matchAll(/\bBERTH_[A-Z_]+/g)].map(([setting]) => setting);
    const given = settings.filter((setting) => !OF_THE_BUILD.has(setting)).map((setting) => [setting, 'x']);
    const result = readConfig(Object.fromEntries(given));
    const unknown = 'faults' in result ? result.faults.filter((fault) => /known setting/.test(fault)) : [];
    t.same(unknown, [], name);
    t.not(settings.length, 0);
  }
  t.match(readConfig({ BERTH_NOPE: 'x' }), { faults: [/known setting/] }, 'others are noticed');
});

t.test('the unit has the form that systemd reads', async (t) => {
  const lines = read('berth.service').split('\n');
  const other = lines.filter((line) => !/^(#.*|\[(Unit|Service|Install)\]|[A-Z][A-Za-z]+=.+|)$/.test(line));
  t.same(other, []);
  // Where systemd is there, its own judgement too.
  const { error, stdout, stderr } = spawnSync('systemd-analyze', ['verify', 'docs/deploy/berth.service'], {
    encoding: 'utf8',
  });
  if (error === undefined) t.equal(stdout + stderr, '');
});

t.test('the service stops within what systemd and Docker wait', async (t) => {
  const within = /STOP_WITHIN_MS = (\d+)_000/.exec(readFileSync('src/app/main/process/exit.ts', 'utf8'))?.[1];
  const waits = [
    /^TimeoutStopSec=(\d+)$/m.exec(read('berth.service'))?.[1],
    ...[...read('compose.yaml').matchAll(/stop_grace_period: (\d+)s/g)].map(([, seconds]) => seconds),
  ];
  t.equal(waits.length, 3);
  for (const seconds of waits) t.ok(Number(seconds) > Number(within), `${seconds} s`);
});
