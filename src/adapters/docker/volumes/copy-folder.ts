import path from 'node:path';
import { RuntimeFailure } from '../../../ports/containers/container-runtime.ts';
import { lastLines, run } from '../host/host-commands.ts';

/** Longer than copying the largest volume takes. */
export const COPY_SECONDS = 1800;

/** Beside a volume's files, and removed with the volume. */
const COPIED = 'berth-copied';

/**
 * `FROM TO COPIED SECONDS`: plain sh; what an earlier attempt left is removed first. A copy outlives a killed service, so
 * the next one waits for it, by a lock that every program of the copy inherits. COPIED marks a complete one: it is made
 * once the files are on the disk, since it is believed after a crash of the machine too.
 */
const COPY_FOLDER = `
exec 9< "$2" || exit 1
flock -w "$4" 9 || { echo 'an earlier copy has not ended' >&2; exit 1; }
[ -e "$3" ] && exit 0
find "$2" -mindepth 1 -delete && cp -a --reflink=auto --sparse=auto -- "$1/." "$2/" &&
  sync -f "$2" && : > "$3" && sync -f "$3"
`;

/** Copies a volume's folder once: a repeat, also by another process, finds it done. */
export async function copyFolder(source: string, target: string): Promise<void> {
  const copied = path.join(path.dirname(target), COPIED);
  const args = [source, target, copied, String(COPY_SECONDS)];
  const { code, stderr } = await run('sh', ['-c', COPY_FOLDER, 'berth', ...args], {
    timeoutSeconds: 2 * COPY_SECONDS,
  });
  if (code !== 0) throw new RuntimeFailure(`a volume could not be copied: ${lastLines(stderr, 2)}`);
}
