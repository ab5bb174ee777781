import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { clusterPrograms } from '../../../src/adapters/kubernetes/exec/container-programs.ts';
import { readLoad } from '../../../src/adapters/kubernetes/insight/container-load.ts';
import { runHere } from '../../support/kubernetes/exec-programs.ts';
import { startExecServer } from '../../support/kubernetes/exec-server.ts';

/** The files of a container's control group, as kernels of both versions have them. */
const GROUPS = {
  'version 2': {
    'cpu.stat': 'usage_usec 5000000\nuser_usec 1\nsystem_usec 2\n',
    'memory.current': '3000\n',
    'memory.stat': 'anon 5\ninactive_file 1000\nactive_file 7\n',
    'memory.events': 'low 0\noom 9\noom_kill 4\n',
    'pids.current': '12\n',
  },
  'version 1': {
    'cpuacct/cpuacct.usage': '5000000000\n',
    'memory/memory.usage_in_bytes': '3000\n',
    'memory/memory.stat': 'inactive_file 5\ntotal_inactive_file 1000\n',
    'memory/memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 4\n',
    'pids/pids.current': '12\n',
  },
};

for (const [version, files] of Object.entries(GROUPS))
  t.test(`the load of a container by control groups of ${version}`, async (t) => {
    const folder = t.testdir();
    for (const [name, text] of Object.entries(files)) {
      await mkdir(path.join(folder, path.dirname(name)), { recursive: true });
      await writeFile(path.join(folder, name), text);
    }
    const { access } = await startExecServer(t, { run: runHere, protocol: 'v5.channel.k8s.io' });
    const programs = clusterPrograms({
      access,
      podContainerOf: () => ({ pod: 'ws-one', container: 'workspace' }),
      observe: async () => ({ kind: 'running', startedAt: new Date(0) }),
      node: 'cluster',
    });
    const first = await readLoad(programs, 'one', undefined, folder);
    t.match(first.load, { cpuMillicores: 0, memoryBytes: 2000, pids: 12, memoryKills: 4 });
    t.equal(first.reading.usedMicroseconds, 5_000_000);
    // Two seconds ago it had used a second less.
    const { upHundredths } = first.reading;
    const earlier = { usedMicroseconds: 4_000_000, upHundredths: upHundredths - 200 };
    const { load } = await readLoad(programs, 'one', earlier, folder);
    t.ok(load.cpuMillicores > 100 && load.cpuMillicores <= 500, `${load.cpuMillicores}`);
    const restarted = { usedMicroseconds: 9_000_000, upHundredths: upHundredths - 200 };
    t.match((await readLoad(programs, 'one', restarted, folder)).load, { cpuMillicores: 0 });
    const elsewhere = readLoad(programs, 'one', undefined, path.join(folder, 'absent'));
    await t.rejects(elsewhere, { name: 'LoadUnknown', message: /reports no figures/ });
  });
