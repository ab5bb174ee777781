/** One engine with two containers, and each peer with its ways into them. */
import { type Absences, SIDES, type Side } from '../report/rows.ts';
import { type Box, type Scene, aScene as terminals } from '../terminals/scene.ts';
import type { Way, Ways } from './lines.ts';
import { inPath, startTtyd, startWetty } from './web-servers.ts';

export type PeerScene = {
  /** Into a container without a multiplexer. */
  readonly plain: Ways;
  /** Into another one, for the neighbour's flood, by the same servers. */
  readonly beside: Ways;
  /** Berth's way into a container with a multiplexer. */
  readonly tmux: Way;
  /** The processes that serve all of a peer's terminals. */
  readonly pids: Readonly<Partial<Record<Side, number>>>;
  readonly absences: Absences;
  stop(): Promise<void>;
};

type Started = { readonly pid: number; readonly way: (box: Box) => Way; stop(): Promise<void> };

export async function aPeerScene(): Promise<PeerScene> {
  const scene = await terminals();
  const started: Partial<Record<Side, Started>> = {};
  const stop = async (): Promise<void> => {
    for (const one of Object.values(started)) await one.stop();
    await scene.stop();
  };
  try {
    const absences = await startAll(scene, started);
    const [plain, beside] = [await scene.box('plain'), await scene.box('beside')];
    const tmux = await scene.box('tmux', { tmux: true });
    const pids = Object.fromEntries(Object.entries(started).map(([side, { pid }]) => [side, pid]));
    return {
      plain: waysInto(scene, plain, started, absences),
      beside: waysInto(scene, beside, started, absences),
      tmux: berthWay(scene, tmux),
      pids: { ...pids, berth: scene.service.pid },
      absences,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts what there is; returns why the others are absent. */
async function startAll(scene: Scene, started: Partial<Record<Side, Started>>): Promise<Absences> {
  const { endpoint } = scene;
  if (!inPath('docker')) {
    const why = 'is not measured: there is no `docker` in the PATH';
    return { client: `the engine's client ${why}`, ttyd: `ttyd ${why}`, wetty: `wetty ${why}` };
  }
  const absences: Partial<Record<Side, string>> = {};
  if (!inPath('script'))
    absences.client = "the engine's client is not measured: there is no `script` in the PATH";
  if (!inPath('ttyd')) absences.ttyd = 'ttyd is not measured: it is not in the PATH';
  else await unlessAbsent('ttyd', () => ttyd(endpoint));
  await unlessAbsent('wetty', () => wetty(endpoint));
  return absences;

  async function unlessAbsent(side: 'ttyd' | 'wetty', start: () => Promise<Started>): Promise<void> {
    try {
      started[side] = await start();
    } catch (error) {
      absences[side] = `${side} is not measured: ${inOneLine((error as Error).message)}`;
    }
  }
}

const inOneLine = (text: string): string => text.trim().replaceAll(/\s+/g, ' ').slice(0, 300);

async function ttyd(endpoint: string): Promise<Started> {
  const { port, pid, stop } = await startTtyd(endpoint);
  return { pid, stop, way: ({ runtimeId }) => ({ by: 'ttyd', port, runtimeId }) };
}

async function wetty(endpoint: string): Promise<Started> {
  const { port, pid, folder, stop } = await startWetty(endpoint);
  return { pid, stop, way: ({ runtimeId }) => ({ by: 'wetty', port, folder, runtimeId }) };
}

const berthWay = ({ at }: Scene, { dbId }: Box): Way => ({ by: 'berth', ...at, dbId });

function waysInto(scene: Scene, box: Box, started: Partial<Record<Side, Started>>, absences: Absences): Ways {
  const { endpoint } = scene;
  const { runtimeId } = box;
  const ways: Record<Side, Way | undefined> = {
    base: { by: 'base', endpoint, runtimeId },
    client: absences.client === undefined ? { by: 'client', endpoint, runtimeId } : undefined,
    ttyd: started.ttyd?.way(box),
    wetty: started.wetty?.way(box),
    berth: berthWay(scene, box),
  };
  return Object.fromEntries(SIDES.flatMap((side) => (ways[side] === undefined ? [] : [[side, ways[side]]])));
}
