import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Value } from '@sinclair/typebox/value';
import { throttled } from '../../../concurrency/coalesce.ts';
import type { ApiClient } from './api-client.ts';
import { Bare, pageOf, WatchLine } from './objects.ts';

/** How long the server sends one watch, and how much later a silent one counts as lost. */
const WATCH_SECONDS = 240;
const SILENT_SECONDS = 15;
const SETTLE_MS = 200;
const BACKOFF_MS = { first: 500, most: 30_000 };

export type Watched = {
  /** Of a list of the API, such as `/api/v1/namespaces/x/pods`. */
  readonly path: string;
  readonly labelSelector: string;
};

const Page = pageOf(Bare);

/**
 * Listens to changes as hints, since they may be lost. Close ones are merged, and each new connection, as after an
 * expired position, causes one for what was missed. Returns the unsubscribe function.
 */
export function watchObjects(client: ApiClient, watched: Watched, hint: () => void): () => void {
  const ending = new AbortController();
  const hints = throttled(SETTLE_MS, hint);
  void follow(client, watched, hints.call, ending.signal);
  return () => {
    ending.abort();
    hints.cancel();
  };
}

async function follow(
  client: ApiClient,
  watched: Watched,
  soon: () => void,
  signal: AbortSignal,
): Promise<void> {
  let position: string | null = null;
  let waitMs = BACKOFF_MS.first;
  while (!signal.aborted) {
    try {
      if (position === null) {
        position = await newestPosition(client, watched);
        soon();
      }
      position = await listen(client, watched, { position, soon, signal });
      waitMs = BACKOFF_MS.first;
    } catch {
      position = null;
      waitMs = Math.min(2 * waitMs, BACKOFF_MS.most);
    }
    // Not all replicas at once, when a server comes back.
    await sleep(waitMs * (0.5 + Math.random()), null, { signal }).catch(() => undefined);
  }
}

async function newestPosition(client: ApiClient, { path, labelSelector }: Watched): Promise<string> {
  const { metadata } = await client.call(Page, {
    method: 'GET',
    path,
    query: { labelSelector, limit: '1' },
  });
  return metadata.resourceVersion ?? '0';
}

type Listening = { readonly position: string; readonly soon: () => void; readonly signal: AbortSignal };

/** Returns the position after the last change, or null when the server no longer knows it. Throws when it breaks. */
async function listen(
  client: ApiClient,
  { path, labelSelector }: Watched,
  { position, soon, signal }: Listening,
): Promise<string | null> {
  const limit = AbortSignal.timeout((WATCH_SECONDS + SILENT_SECONDS) * 1000);
  const query = {
    watch: 'true',
    allowWatchBookmarks: 'true',
    labelSelector,
    resourceVersion: position,
    timeoutSeconds: String(WATCH_SECONDS),
  };
  const answer = await client.stream({ method: 'GET', path, query }, AbortSignal.any([limit, signal]));
  let last = position;
  try {
    for await (const text of linesOf(answer)) {
      const line: unknown = JSON.parse(text);
      if (!Value.Check(WatchLine, line) || line.type === 'ERROR') return null;
      last = line.object.metadata?.resourceVersion ?? last;
      if (line.type !== 'BOOKMARK') soon();
    }
  } finally {
    answer.destroy();
  }
  return last;
}

async function* linesOf(answer: IncomingMessage): AsyncGenerator<string> {
  answer.setEncoding('utf8');
  let rest = '';
  for await (const piece of answer) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
