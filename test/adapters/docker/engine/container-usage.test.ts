import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { engineCalls } from '../../../../src/adapters/docker/engine/engine-client.ts';
import { killsIn } from '../../../../src/adapters/docker/host/memory-kills.ts';
import { usageReader } from '../../../../src/adapters/docker/insight/container-usage.ts';
import { dockerOf } from '../../../support/engine/printing-engine.ts';

/** An engine that knows the statistics of containers, and starts no program in them; it keeps what it was to start. */
async function anEngine(t: Test) {
  const programs: string[] = [];
  let reads = 0;
  const server = createServer(async (request, response) => {
    const body = await text(request);
    response.setHeader('content-type', 'application/json');
    if (request.url === '/_ping') response.end('OK');
    else if (request.url?.includes('/stats')) {
      reads += 1;
      const cpu_stats = { cpu_usage: { total_usage: reads * 5_000_000 } };
      response.end(JSON.stringify({ read: new Date(reads * 1000).toISOString(), cpu_stats }));
    } else {
      programs.push(body);
      response.writeHead(500).end('{"message":"no programs"}');
    }
  });
  return { programs, ...usageReader(engineCalls(await dockerOf(t, server)), async () => null) };
}

t.test('a load does not measure the volume, a use does', async (t) => {
  const { programs, load, usage } = await anEngine(t);
  const measuresVolume = (program: string): boolean => program.includes('mountinfo');
  t.match(await load('one'), { cpuMillicores: 5 });
  t.same(programs.filter(measuresVolume), []);
  t.match(await usage('one'), { cpuMillicores: 5, diskBytes: null, maxProcesses: 512 });
  t.equal(programs.filter(measuresVolume).length, 1);
});

t.test('the kernel counts programs ended for memory in control groups of both versions', async (t) => {
  t.equal(killsIn('oom_kill_disable 0\nunder_oom 0\noom_kill 3\n'), 3);
  t.equal(killsIn('low 0\nhigh 0\nmax 812\noom 5\noom_kill 4\noom_group_kill 0\n'), 4);
  t.equal(killsIn('oom_kill_disable 0\nunder_oom 0\n'), null, 'a kernel that does not count');
});
