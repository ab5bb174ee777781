import { StringDecoder } from 'node:string_decoder';
import type { DebianPackage } from '../../../domain/containers/layer/layer-changes.ts';

/** `NAME...`: prints the package database's entries for these packages, in three parts. Nothing without a database. */
export const DEBIAN = `
exec 2>/dev/null
command -v dpkg-query >/dev/null || exit 0
echo '== installed'
dpkg-query -W -f '\${Package} \${Version} \${db:Status-Status}\\n' "$@"
echo '== automatic'
cat /var/lib/apt/extended_states
cd /var/lib/dpkg/info || exit 0
for name; do
  echo "== files $name"
  for list in "$name.list" "$name":*.list; do [ -f "$list" ] && cat "$list"; done
done
exit 0
`;

type Found = { version: string | null; automatic: boolean; files: string[] };

/** Longer than any path or version; the rest is cut. */
const MAX_LINE = 8_192;

/** Reads the output of `DEBIAN` incrementally, so that no piece blocks the service for long. */
export async function debianPackagesOf(
  output: AsyncIterable<Buffer>,
  maxBytes: number,
): Promise<readonly DebianPackage[]> {
  const take = reader();
  const decoder = new StringDecoder('utf8');
  let [rest, left] = ['', maxBytes];
  for await (const chunk of output) {
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = (lines.pop() ?? '').slice(-MAX_LINE);
    for (const line of lines) take.line(line.slice(0, MAX_LINE));
    left -= chunk.length;
    if (left < 0) break;
  }
  take.line(rest);
  return take.packages();
}

function reader() {
  const found = new Map<string, Found>();
  const at = (name: string): Found => {
    const known = found.get(name) ?? { version: null, automatic: false, files: [] };
    found.set(name, known);
    return known;
  };
  let [part, name] = ['', ''];
  return {
    line(line: string): void {
      const heading = /^== (\w+) ?(.*)$/.exec(line);
      if (heading !== null) [part, name] = [heading[1] ?? '', heading[2] ?? ''];
      else if (part === 'installed') readInstalled(line, at);
      else if (part === 'automatic') name = readAutomatic(line, name, found);
      else if (part === 'files' && line.startsWith('/')) at(name).files.push(line);
    },
    packages: (): readonly DebianPackage[] =>
      [...found].flatMap(([each, { version, automatic, files }]) =>
        version === null ? [] : [{ name: each, version, automatic, files }],
      ),
  };
}

function readInstalled(line: string, at: (name: string) => Found): void {
  const [name = '', version = '', status] = line.split(' ');
  if (status === 'installed') at(name).version = version;
}

/** Paragraphs of `Package: name`, `Architecture: …`, `Auto-Installed: 1`. */
function readAutomatic(line: string, name: string, found: ReadonlyMap<string, Found>): string {
  const [, field, value = ''] = /^([\w-]+): (.*)$/.exec(line) ?? [];
  const known = found.get(name);
  if (field === 'Auto-Installed' && value === '1' && known !== undefined) known.automatic = true;
  return field === 'Package' ? value : name;
}
