/** Attacks of one tenant with an ordinary account, repeated with unlimited concurrency. */
import { randomUUID } from 'node:crypto';
import { type ClientRequest, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { serviceLine } from '../terminals/scene.ts';
import type { Tenant } from './scene.ts';

/** Ends the attack, and waits until nothing of it runs. */
export type End = () => Promise<void>;
export type Attack = (attacker: Tenant) => Promise<End>;

const REFUSED_PAUSE_MS = 100;
/** Stops every new process of this container at the moment when the runtime starts it. */
const HOLD_STARTS =
  'cd /proc; while :; do for p in [0-9]*; do read c < $p/comm; case "$c" in runc*) kill -STOP $p;; esac; done; done 2>/dev/null';

export const ATTACKS: Readonly<Record<string, Attack>> = {
  'nothing at all': async () => async () => {},
  'commands that never start': async (attacker) => {
    const release = await inBackground(attacker, HOLD_STARTS);
    return both(
      workers(24, () => run(attacker, ['true'])),
      release,
    );
  },
  'terminals that never start': async (attacker) => {
    const release = await inBackground(attacker, HOLD_STARTS);
    return both(
      workers(20, async () => (await terminalOf(attacker)).close()),
      release,
    );
  },
  'environments of 60,000 names': async (attacker) => {
    const env = Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => [`V${n}`, 'x']));
    return workers(16, () => attacker.call('POST', execOf(attacker), { command: ['true'], env }));
  },
  'what a large layer changed': async (attacker) => {
    const many = 'mkdir -p /var/many && cd /var/many && seq 30000 | xargs touch';
    await retried(() => run(attacker, ['sh', '-c', many]));
    return workers(4, () => attacker.call('GET', `/api/containers/${attacker.box}/changes`));
  },
  'answers of NUL bytes': async (attacker) =>
    workers(8, () => run(attacker, ['head', '-c', '1048576', '/dev/zero'])),
  'answers that are not read': async (attacker) =>
    unread(attacker, 60, 'POST', execOf(attacker), { command: ['head', '-c', '1048576', '/dev/zero'] }),
  'archives that are not read': async (attacker) =>
    unread(attacker, 40, 'GET', `/api/containers/${attacker.box}/files?path=/usr`),
  'passcodes that are hashed': async (attacker) =>
    workers(32, () =>
      attacker.call('POST', '/api/auth/login', { email: 'attacker', password: randomUUID() }),
    ),
  'writes outside of the volume': async (attacker) =>
    inBackground(
      attacker,
      'while :; do dd if=/dev/zero of=/var/fill bs=1M count=512 2>/dev/null; sync; done',
    ),
  'full pipes': async (attacker) =>
    inBackground(
      attacker,
      `perl -e 'for (1..400) { pipe($r[$_], $w[$_]) or last; fcntl($w[$_], 4, 2048); syswrite($w[$_], "x" x 65536) } sleep'`,
    ),
  'busy loops': async (attacker) =>
    inBackground(attacker, 'for n in $(seq 200); do (while :; do :; done) & done; wait'),
  'floods of output': async (attacker) => {
    const lines = await Promise.all(Array.from({ length: 10 }, () => retried(() => terminalOf(attacker))));
    for (const line of lines) line.write('yes\r');
    return async () => void (await Promise.all(lines.map((line) => line.close())));
  },
  'requests without a pause': async (attacker) =>
    workers(32, () => attacker.call('GET', `/api/containers/${attacker.box}/stats`)),
  'records of commands': async (attacker) => workers(16, () => run(attacker, ['true', randomUUID()])),
};

const execOf = ({ box }: Tenant): string => `/api/containers/${box}/exec`;

const run = (attacker: Tenant, command: readonly string[]): Promise<unknown> =>
  attacker.call('POST', execOf(attacker), { command });

const terminalOf = ({ address, token, box }: Tenant) =>
  serviceLine({ address, token: token ?? '' }, box, `pane-${randomUUID()}`);

/** A program of the attacker's in the container, running until the end. */
async function inBackground(attacker: Tenant, script: string): Promise<End> {
  const detached = `setsid sh -c '${script.replaceAll("'", `'\\''`)}' >/dev/null 2>&1 &`;
  await retried(() => run(attacker, ['sh', '-c', detached]));
  return async () => {
    // A container without working process starts is not asked to end its own.
    await retried(() => attacker.call('POST', `/api/containers/${attacker.box}/stop`));
    await retried(() => attacker.call('POST', `/api/containers/${attacker.box}/start`));
  };
}

/** Retries until success, since the attacker may have used up the minute's requests. */
async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries === 90) throw error;
      await delay(1_000);
    }
  }
}

/** Concurrent workers. Each sends its next request as soon as the last one is answered, even with an error. */
function workers(count: number, work: () => Promise<unknown>): End {
  let isOver = false;
  const all = Array.from({ length: count }, async () => {
    while (!isOver) await work().catch(() => delay(REFUSED_PAUSE_MS));
  });
  return async () => {
    isOver = true;
    await Promise.race([Promise.all(all), delay(40_000)]);
  };
}

const both =
  (first: End, second: End): End =>
  async () => {
    await first();
    await second();
  };

/** Requests with unread answers. An aborted one is repeated. */
function unread({ address, token }: Tenant, count: number, method: string, path: string, body?: object): End {
  const open = new Set<ClientRequest>();
  const ended = workers(
    count,
    () =>
      new Promise<void>((resolve) => {
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
        const asked = request(address + path, { method, headers, agent: false }, (answer) => answer.pause());
        open.add(asked);
        asked.on('error', () => {});
        asked.once('close', () => {
          open.delete(asked);
          setTimeout(resolve, REFUSED_PAUSE_MS);
        });
        asked.end(body === undefined ? undefined : JSON.stringify(body));
      }),
  );
  return async () => {
    const over = ended();
    const cut = setInterval(() => {
      for (const asked of open) asked.destroy();
    }, 100);
    await over;
    clearInterval(cut);
  };
}
