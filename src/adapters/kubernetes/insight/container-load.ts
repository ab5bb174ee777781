import { type ContainerLoad, LoadUnknown } from '../../../ports/containers/inside/container-insight.ts';
import type { ContainerPrograms } from '../../../ports/containers/inside/container-programs.ts';
import { AnswerLate, inTime } from '../../scripts/exec/in-time.ts';
import { type ScriptRun, startScript } from '../../scripts/exec/script-process.ts';

/** Far longer than it takes. */
const SECONDS = 5;
/** Closer readings say little about the processor. */
const MIN_APART_HUNDREDTHS = 20;
const MAX_APART_HUNDREDTHS = 3_000;

/**
 * `FOLDER once|twice`: prints a line, or two a quarter of a second apart: microseconds of processor time, the machine's
 * uptime in hundredths of a second, bytes of memory, of them reclaimable caches, processes, and programs ended for
 * memory or `-`.
 */
const LOAD = `
cd "$1" || exit 1
value() { while read -r key number; do [ "$key" = "$2" ] && { echo "$number"; return; }; done 2>/dev/null < "$1"; echo -; }
number() { read -r number < "$1" && echo "$number"; }
sample() {
  read -r up rest < /proc/uptime
  up=\${up%.*}\${up#*.}
  if [ -r cpu.stat ] && [ -r memory.current ]; then
    echo "$(value cpu.stat usage_usec) $up $(number memory.current) $(value memory.stat inactive_file)" \\
      "$(number pids.current) $(value memory.events oom_kill)"
  else
    echo "$(($(number cpuacct/cpuacct.usage) / 1000)) $up $(number memory/memory.usage_in_bytes)" \\
      "$(value memory/memory.stat total_inactive_file) $(number pids/pids.current) $(value memory/memory.oom_control oom_kill)"
  fi
}
sample
[ "$2" = once ] || { sleep 0.25 || sleep 1; sample; }
`;

/** Processor time of a container at one moment. */
export type Reading = { readonly usedMicroseconds: number; readonly upHundredths: number };

/** A container's load, from an earlier reading where that is useful. Throws `ContainerNotRunning` and `LoadUnknown`. */
export async function readLoad(
  programs: Pick<ContainerPrograms, 'start'>,
  runtimeId: string,
  earlier: Reading | undefined,
  controlGroup = '/sys/fs/cgroup',
): Promise<{ readonly load: ContainerLoad; readonly reading: Reading }> {
  const run = await startScript(programs, runtimeId, {
    script: LOAD,
    args: [controlGroup, earlier === undefined ? 'twice' : 'once'],
  });
  try {
    const seen = await inTime(measured(run, earlier), SECONDS, run.end);
    return seen ?? (await readLoad(programs, runtimeId, undefined, controlGroup));
  } catch (error) {
    throw error instanceof AnswerLate ? new LoadUnknown(error.message, { cause: error }) : error;
  } finally {
    await run.finish();
  }
}

/** null: the earlier reading is of no use. */
async function measured(run: ScriptRun, earlier: Reading | undefined) {
  const first = figuresIn(await run.line());
  if (earlier === undefined) return result(first, figuresIn(await run.line()));
  return isUseful(earlier, first) ? result(earlier, first) : null;
}

type Figures = Reading & Omit<ContainerLoad, 'at' | 'cpuMillicores'>;

/** Far enough apart, and of the same start of the container. */
function isUseful(before: Reading, now: Reading): boolean {
  const apart = now.upHundredths - before.upHundredths;
  return (
    apart >= MIN_APART_HUNDREDTHS &&
    apart <= MAX_APART_HUNDREDTHS &&
    before.usedMicroseconds <= now.usedMicroseconds
  );
}

function result(before: Reading, { usedMicroseconds, upHundredths, ...figures }: Figures) {
  const apart = Math.max(1, upHundredths - before.upHundredths);
  // Millicores are nanoseconds of processor time per microsecond.
  const cpuMillicores = Math.max(0, Math.round((usedMicroseconds - before.usedMicroseconds) / (apart * 10)));
  return {
    load: { at: new Date(), cpuMillicores, ...figures },
    reading: { usedMicroseconds, upHundredths },
  };
}

/** What programs in a container print is not trusted. */
function figuresIn(line: string | null): Figures {
  const words = (line ?? '').split(' ');
  const [used = Number.NaN, up = Number.NaN, memory = Number.NaN, caches, pids = Number.NaN, kills] =
    words.map(Number);
  if (![used, up, memory, pids].every((one) => Number.isSafeInteger(one) && one >= 0))
    throw new LoadUnknown(`a container reports no figures: ${words.join(' ').slice(0, 200)}`);
  return {
    usedMicroseconds: used,
    upHundredths: up,
    memoryBytes: Math.max(0, memory - (caches || 0)),
    pids,
    memoryKills: kills !== undefined && Number.isSafeInteger(kills) ? kills : null,
  };
}
