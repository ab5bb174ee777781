/** Bytes a second of an agent's terminal beside a container's, on the same machine and by the same service. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { usedMs } from '../processor-time.ts';
import { OUTPUT_BYTES, prepareOutput, rate, spread, takeTurns } from './output.ts';
import { type Figure, type Part, promptOf, type Scene, serviceLine } from './scene.ts';

const PROGRAM = path.resolve(import.meta.dirname, '../../../../src/agent/bin/agent.ts');
const SIDES = ['container', 'agent'] as const;
const WANTED = 0.8;
const POLL_MS = 50;

/** Of an agent and a container without a multiplexer: an agent has none either. */
export const agent: Part = async (scene, { rounds }) => {
  const machine = await startAgent(scene);
  const box = await scene.box('beside-agent');
  const line = await promptOf(await serviceLine(scene.at, machine.dbId, 'output'));
  const lines = { container: await scene.open('berth', box), agent: line };
  try {
    await prepareOutput(lines.container);
    lines.agent.write('OUT=$HOME/out\r');
    await prepareOutput(lines.agent);
    return [await measured(machine, lines, rounds)];
  } finally {
    for (const side of SIDES) await lines[side].close();
    await scene.remove(box);
    await machine.stop();
  }
};

type Machine = { readonly pid: number; readonly dbId: string; stop(): Promise<void> };

async function measured(
  machine: Machine,
  lines: Parameters<typeof takeTurns<(typeof SIDES)[number]>>[1],
  rounds: number,
): Promise<Figure> {
  const before = usedMs(machine.pid);
  const all = await takeTurns(SIDES, lines, rounds);
  const gigabytes = (OUTPUT_BYTES * (rounds + 1)) / 1e9;
  const agentSeconds = (usedMs(machine.pid) - before) / 1000 / gigabytes;
  const ratio = rate(all.agent) / rate(all.container);
  return {
    what: `agent beside a container: a program's MB/s (${agentSeconds.toFixed(1)} s of the agent's processor time for each GB)`,
    bare: spread(all.container),
    berth: spread(all.agent),
    ratio,
    wanted: `at least ${WANTED}`,
    isMet: ratio >= WANTED,
  };
}

/** An agent in a process of its own, connected. */
async function startAgent({ admin, at }: Scene): Promise<Machine> {
  const home = await mkdtemp(path.join(tmpdir(), 'berth-bench-agent-'));
  const flags = process.env['BENCH_AGENT_FLAGS']?.split(' ') ?? [];
  const child = spawn(process.execPath, [...flags, PROGRAM, '--server', at.address], {
    env: { ...process.env, HOME: home, XDG_STATE_HOME: home, BERTH_TOKEN: at.token },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await ended;
    await rm(home, { recursive: true, force: true });
  };
  while (child.exitCode === null) {
    type Listed = { readonly containers: readonly { readonly db_id: string; readonly image: string }[] };
    const { containers } = await admin.call<Listed>('GET', '/api/containers?status=running');
    const found = containers.find(({ image }) => image === 'agent');
    if (found !== undefined) return { pid: child.pid ?? 0, dbId: found.db_id, stop };
    await delay(POLL_MS);
  }
  await stop();
  throw new Error('the agent did not connect');
}
