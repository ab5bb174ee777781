/** From a keystroke to its echo, in a quiet container and beside another one's flood through the same server. */
import { quantile } from '../load.ts';
import type { Row, Side } from '../report/rows.ts';
import { startProgram } from '../servers.ts';
import { answerKeys, type } from '../terminals/echo.ts';
import { promptOf } from '../terminals/scene.ts';
import { connect, type PeerLine, type Way, type Ways } from './lines.ts';
import type { PeerScene } from './scene.ts';
import { each, takeTurns } from './turns.ts';

type Typist = { readonly line: PeerLine; readonly flood: Awaited<ReturnType<typeof aFlood>> };

export async function echoRows(
  { plain, beside }: PeerScene,
  rounds: number,
  keys: number,
): Promise<readonly Row[]> {
  const sides = Object.keys(plain) as Side[];
  const typists: Partial<Record<Side, Typist>> = {};
  try {
    const begin = async (side: Side): Promise<void> => {
      typists[side] = await aTypist(plain, beside, side);
    };
    const begun = await Promise.allSettled(sides.map(begin));
    const broken = begun.find((one) => one.status === 'rejected');
    if (broken !== undefined) throw broken.reason;
    const taken = await takeTurns(sides, rounds, async (side) => {
      const { line, flood } = typists[side] as Typist;
      const quiet = await type(line, keys);
      await flood.begin();
      const flooded = await type(line, keys);
      await flood.pause();
      return { quiet, flooded };
    });
    const of = (kind: 'quiet' | 'flooded', share: number) =>
      each(taken, (all) =>
        quantile(
          all.flatMap((one) => one[kind]),
          share,
        ),
      );
    return [
      row('echo p50, ms', of('quiet', 0.5), 0.9),
      row('echo p99, ms', of('quiet', 0.99), 1.2),
      row('echo p50 beside one flooding terminal, ms', of('flooded', 0.5), 0.65),
      row('echo p99 beside one flooding terminal, ms', of('flooded', 0.99), 0.6),
    ];
  } finally {
    for (const { line, flood } of Object.values(typists)) {
      await line.close();
      await flood.end();
    }
  }
}

const row = (what: string, values: Row['values'], atMost: number): Row => ({
  what,
  values,
  digits: 2,
  targets: [{ of: 'ttyd', atMost }],
});

async function aTypist(plain: Ways, beside: Ways, side: Side): Promise<Typist> {
  const line = await promptOf(await connect(plain[side] as Way, 'typing', () => undefined));
  await answerKeys(line);
  return { line, flood: await aFlood(beside[side] as Way) };
}

/** The flood's reader is another process: its work must not count as waiting. */
async function aFlood(way: Way) {
  const { ask, stop } = await startProgram('peers/flood-process.ts', [JSON.stringify(way)]);
  return {
    /** Until it has flowed for a second. */
    begin: () => ask('begin'),
    /** Until its shell has its prompt. */
    pause: () => ask('pause'),
    end: stop,
  };
}
