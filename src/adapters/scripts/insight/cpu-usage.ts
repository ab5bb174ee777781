import type { ContainerPrograms } from '../../../ports/containers/inside/container-programs.ts';
import { inTime } from '../exec/in-time.ts';
import { type ScriptRun, startScript } from '../exec/script-process.ts';

/** Far longer than it takes; the engine's own figures serve as well. */
const SECONDS = 5;

type Starts = Pick<ContainerPrograms, 'start'>;

/**
 * Prints, twice and a quarter of a second apart, the microseconds of processor time that the container has used and the
 * machine's uptime in hundredths of a second.
 */
const CPU = `
used() {
  if [ -r /sys/fs/cgroup/cpu.stat ]; then
    while read -r key value; do [ "$key" = usage_usec ] && echo "$value"; done < /sys/fs/cgroup/cpu.stat
  else
    read -r value < /sys/fs/cgroup/cpuacct/cpuacct.usage && echo "$((value / 1000))"
  fi
}
sample() { read -r up rest < /proc/uptime; echo "$(used) \${up%.*}\${up#*.}"; }
sample; sleep 0.25 || sleep 1; sample
`;

/**
 * Millicores in use, as measured inside the container; null when unavailable. The engine reads only once a second, too
 * slow for two readings.
 */
export async function cpuSeenInside(programs: Starts, id: string): Promise<number | null> {
  const run = await startScript(programs, id, { script: CPU, args: [] });
  try {
    const [before, after] = await inTime(twoFigures(run), SECONDS, run.end);
    await run.finish();
    const used = (after[0] - before[0]) / ((after[1] - before[1]) * 10);
    return Number.isFinite(used) && used >= 0 ? Math.round(used) : null;
  } finally {
    await run.end();
  }
}

const twoFigures = async (run: ScriptRun) => [figures(await run.line()), figures(await run.line())] as const;

function figures(line: string | null): readonly [microseconds: number, hundredths: number] {
  const [used = Number.NaN, up = Number.NaN] = (line ?? '').split(' ').map(Number);
  return [used, up];
}
