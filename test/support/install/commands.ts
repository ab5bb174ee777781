import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The blocks of commands below a heading of the docs, up to the next heading. */
export function commandsOf(page: string, heading: string): readonly string[] {
  const lines = readFileSync(path.join('docs', page), 'utf8').split('\n');
  const start = lines.findIndex((line) => /^#{2,3} /.test(line) && line.endsWith(`# ${heading}`));
  if (start < 0) throw new Error(`docs/${page} has no section "${heading}"`);
  const length = lines.slice(start + 1).findIndex((line) => /^#{2,3} /.test(line));
  const section = lines.slice(start + 1, length < 0 ? undefined : start + 1 + length).join('\n');
  return [...section.matchAll(/^```\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
}
