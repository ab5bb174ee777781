import { type Absences, failed, type Row } from '../report/rows.ts';
import { loadNow } from '../say.ts';
import { echoRows } from './echo.ts';
import { openRows } from './open.ts';
import { outputRows } from './output.ts';
import { aPeerScene, type PeerScene } from './scene.ts';

export const PEER_SECTIONS = ['open', 'echo', 'output'] as const;
type PeerSection = (typeof PEER_SECTIONS)[number];
type Options = {
  readonly rounds: number;
  /** Printed by the program in each round. */
  readonly megabytes: number;
  /** Typed in each round, and as many beside the flood. */
  readonly keys: number;
};

/** The rows about terminals, on an installation of its own. A section that fails is a row too. */
export async function measurePeers(
  sections: readonly PeerSection[],
  options: Options,
): Promise<{ readonly rows: readonly Row[]; readonly absences: Absences }> {
  const scene = await aPeerScene();
  const rows: Row[] = [];
  try {
    for (const section of sections) {
      console.log(`${section}, at a load of ${loadNow()}`);
      const measured = measureSection(scene, section, options);
      rows.push(...(await measured.catch((error) => [failed(`terminals: ${section}`, error)])));
    }
    return { rows, absences: scene.absences };
  } finally {
    await scene.stop();
  }
}

function measureSection(
  scene: PeerScene,
  section: PeerSection,
  { rounds, megabytes, keys }: Options,
): Promise<readonly Row[]> {
  if (section === 'open') return openRows(scene, rounds);
  return section === 'echo' ? echoRows(scene, rounds, keys) : outputRows(scene, rounds, megabytes);
}
