import t, { type Test } from 'tap';
import { aFolder } from '../../support/folder.ts';
import { commandsOf } from '../../support/install/commands.ts';
import { aServer, copyCheckout, type Server } from '../../support/install/server.ts';
import { tracesOf, tracesSince } from '../../support/install/traces.ts';
import { eventually, waitFor } from '../../support/patience.ts';
import { ADMIN } from '../../support/process/running-service.ts';

/** Dependencies, the build, packages and the base image. */
const FIRST_START_MS = 1_500_000;
const READY = /Berth is ready.*http:\/\/localhost:8080(?:\/setup#code=(\S+))?$/m;
const LOG = '/root/log';

/** Where a machine has an authority of its own, npm does not know it. */
const AUTHORITIES = 'export NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt';

/** `npm start` as at a terminal, where Ctrl-C reaches all its processes. Returns what it has printed. */
async function started({ sh }: Server): Promise<{ output: string; interrupt: () => Promise<void> }> {
  const pid = await sh(`cd /opt/berth; ${AUTHORITIES}; setsid npm start >${LOG} 2>&1 </dev/null & echo $!`);
  const output = await eventually(
    () => sh(`cat ${LOG}`),
    (text) => READY.test(text) || /Berth did not start|npm ERR!|npm error/.test(text),
    { everyMs: 500, patienceMs: FIRST_START_MS },
  );
  if (!READY.test(output)) throw new Error(`the service is not ready:\n${output.slice(-4000)}`);
  const ended = (): Promise<boolean> =>
    sh(`kill -0 ${pid} 2>/dev/null && echo yes || true`).then((is) => is === '');
  return {
    output,
    async interrupt() {
      await sh(`kill -INT -${pid}`);
      await waitFor(ended, { everyMs: 200, patienceMs: 60_000, what: 'the end' });
    },
  };
}

/** Creates the administrator, and uses a container by the command. */
async function used(t: Test, { sh }: Server, code: string): Promise<void> {
  const body = JSON.stringify({ code, ...ADMIN });
  const request = `-H 'Content-Type: application/json' -d '${body}' http://localhost:8080/api/auth/setup`;
  const { token } = JSON.parse(await sh(`curl -fsS ${request}`));
  const berth = (words: string): Promise<string> =>
    sh(`cd /opt/berth; export BERTH_SERVER=http://localhost:8080 BERTH_TOKEN=${token}; npx berth ${words}`);
  await berth('create dev');
  await berth(`exec dev -- sh -c 'echo kept > canary'`);
  t.equal(await berth('exec dev -- cat canary'), 'kept');
  await berth('stop dev');
  t.match(await berth('ls'), /dev +stopped/);
}

t.test(
  'the README starts a bare Debian 12, where it is used, stopped and uninstalled without a trace',
  async (t) => {
    const server = await aServer(t, aFolder(t), ['curl']);
    const { sh } = server;
    const [, node = ''] = commandsOf('install.md', 'Node.js');
    await sh(`${AUTHORITIES}; ${node}`);
    await copyCheckout(server, { built: false });
    const before = await tracesOf(server);

    const { output, interrupt } = await started(server);
    t.notMatch(output, /^\{/m, 'people read this, not programs');
    await used(t, server, READY.exec(output)?.[1] ?? '');
    await interrupt();
    const uninstall = 'cd /opt/berth; scripts/berth.mjs uninstall';
    t.match(
      await sh(`${uninstall} </dev/null || echo "=$?"`),
      /all containers and their files[\s\S]*=1$/,
      'it asks',
    );
    t.match(
      await sh(`${uninstall} --yes`),
      /Berth is uninstalled\.[\s\S]*apt-get purge --autoremove docker.io/,
    );
    t.same(await tracesSince(server, before), []);
    t.equal(await sh('ls -A /opt/berth | grep "^.berth" || true'), '');
  },
);
