/** Bytes a second of a program with heavy output, and what serving them costs. */
import { median } from '../load.ts';
import { treeUsedMs, usedMs } from '../processor-time.ts';
import type { Row, Side } from '../report/rows.ts';
import { OUTPUT_LINE_BYTES, prepareOutput, runOutput } from '../terminals/output.ts';
import { promptOf } from '../terminals/scene.ts';
import { connect, type PeerLine, type Way } from './lines.ts';
import type { PeerScene } from './scene.ts';
import { each, type Taken, takeTurns } from './turns.ts';

type Run = {
  readonly seconds: number;
  /** Processor time of the process that serves all terminals of its kind. */
  readonly serverMs: number | null;
  /** With the clients that it started. */
  readonly servingMs: number | null;
};

export async function outputRows(
  scene: PeerScene,
  rounds: number,
  megabytes: number,
): Promise<readonly Row[]> {
  const sides = Object.keys(scene.plain) as Side[];
  const lineCount = Math.ceil((megabytes * 1e6) / OUTPUT_LINE_BYTES);
  const gigabytes = (lineCount * OUTPUT_LINE_BYTES) / 1e9;
  const lines: Partial<Record<Side, PeerLine>> = {};
  try {
    for (const side of sides)
      lines[side] = await promptOf(await connect(scene.plain[side] as Way, 'output', () => undefined));
    await prepareOutput(Object.values(lines)[0] as PeerLine, lineCount);
    const taken = await takeTurns(sides, rounds, (side, round) =>
      oneRun(lines[side] as PeerLine, scene.pids[side], round),
    );
    return rowsOf(taken, gigabytes);
  } finally {
    for (const line of Object.values(lines)) await line.close();
  }
}

async function oneRun(line: PeerLine, server: number | undefined, round: number): Promise<Run> {
  // The engine's client is one process for each terminal.
  const all = server ?? line.pid;
  const used = (): readonly number[] => [
    server === undefined ? 0 : usedMs(server),
    all === undefined ? 0 : treeUsedMs(all),
  ];
  const [serverBefore = 0, servingBefore = 0] = used();
  const { seconds } = await runOutput(line, round);
  const [serverAfter = 0, servingAfter = 0] = used();
  return {
    seconds,
    serverMs: server === undefined ? null : serverAfter - serverBefore,
    servingMs: all === undefined ? null : servingAfter - servingBefore,
  };
}

/** Seconds of processor time for a gigabyte, of the sides that have such a process. */
function perGigabyte(taken: Taken<Run>, gigabytes: number, of: 'serverMs' | 'servingMs') {
  const served: Taken<number> = {};
  for (const [side, runs] of Object.entries(taken) as [Side, Run[]][]) {
    const ms = runs.flatMap((run) => run[of] ?? []);
    if (ms.length > 0) served[side] = ms;
  }
  return each(served, (all) => median(all) / 1000 / gigabytes);
}

function rowsOf(taken: Taken<Run>, gigabytes: number): readonly Row[] {
  return [
    {
      what: 'output of a program, MB/s',
      values: each(taken, (all) => median(all.map(({ seconds }) => (gigabytes * 1000) / seconds))),
      digits: 1,
      targets: [
        { of: 'base', atLeast: 1.05 },
        { of: 'ttyd', atLeast: 1.4 },
      ],
    },
    {
      what: 'processor time of the server and the clients that it started, s for 1 GB',
      values: perGigabyte(taken, gigabytes, 'servingMs'),
      digits: 2,
      targets: [{ of: 'ttyd', atMost: 0.5 }],
    },
    {
      what: 'processor time of the server alone, s for 1 GB',
      values: perGigabyte(taken, gigabytes, 'serverMs'),
      digits: 2,
      targets: [],
    },
  ];
}
