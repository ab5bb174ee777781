/** Panes that a page has, asked for among the open pages: a tab that is duplicated copies what the other has kept. */

const CHANNEL = 'berth.panes';
/** Pages of one browser answer within a few milliseconds; one that is busy may take longer. */
const ANSWER_WITHIN_MS = 150;

type Message =
  | { readonly type: 'who_has'; readonly panes: readonly string[] }
  | { readonly type: 'taken'; readonly panes: readonly string[] };

type Heard = { readonly data: Message };

/** Tells other pages which panes are taken, until the function that it returns is called. */
export function answerClaims(has: (pane: string) => boolean): () => void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.addEventListener('message', ({ data }: Heard) => {
    if (data.type !== 'who_has') return;
    const panes = data.panes.filter(has);
    if (panes.length > 0) channel.postMessage({ type: 'taken', panes } satisfies Message);
  });
  return () => channel.close();
}

/** Whether another page that is open has one of these panes. */
export function areTaken(panes: readonly string[], withinMs = ANSWER_WITHIN_MS): Promise<boolean> {
  const channel = new BroadcastChannel(CHANNEL);
  return new Promise((resolve) => {
    const done = (taken: boolean): void => {
      clearTimeout(timer);
      channel.close();
      resolve(taken);
    };
    const timer = setTimeout(() => done(false), withinMs);
    channel.addEventListener('message', ({ data }: Heard) => {
      if (data.type === 'taken' && data.panes.some((pane) => panes.includes(pane))) done(true);
    });
    channel.postMessage({ type: 'who_has', panes } satisfies Message);
  });
}
