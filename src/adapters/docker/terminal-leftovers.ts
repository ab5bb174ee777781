import type { Leftovers } from '../../domain/terminal-reaping.ts';
import { RuntimeFailure } from '../../ports/container-runtime.ts';
import type { EngineCalls } from './client.ts';
import { runScript } from './exec.ts';
import { LIST_LEFTOVERS } from './scripts.ts';

const LINE = /^(session|mark) (?:BERTH_TERM=)?([A-Za-z0-9_-]{1,80})$/;
const MARK = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** What terminals have left in a container. It is the container's word, so nothing of it is taken but names. */
export async function listLeftovers(calls: EngineCalls, containerId: string): Promise<Leftovers> {
  const lines = (await runScript(calls, containerId, LIST_LEFTOVERS, [])).split('\n');
  if (!lines.includes('end')) throw new RuntimeFailure('a container did not say what is left in it', null);
  const found = lines.flatMap((line) => {
    const [, kind, name = ''] = LINE.exec(line) ?? [];
    return kind === undefined ? [] : [{ kind, name }];
  });
  const named = (wanted: string): string[] => [
    ...new Set(found.filter(({ kind }) => kind === wanted).map(({ name }) => name)),
  ];
  return { sessions: named('session'), marks: named('mark').filter((mark) => MARK.test(mark)) };
}
