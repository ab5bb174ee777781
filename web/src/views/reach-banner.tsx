import { type Reach, reach } from '../lib/browser/server-reachability.ts';
import { Spinner } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';

const WORDS: { readonly [R in Exclude<Reach, 'fine'>]: string } = {
  offline: 'You are offline. This page shows the last known state and updates when you are back online.',
  no_answer: 'Berth is not responding. This page shows the last known state and keeps trying to reconnect.',
};

/** Says while the service is out of reach that what is shown may be old. */
export function ReachBanner() {
  const now = reach.value;
  return (
    <div role="status" class={now === 'fine' ? undefined : 'reach-banner'}>
      {now === 'offline' && <Icon name="warning" size={18} />}
      {now === 'no_answer' && <Spinner />}
      {now !== 'fine' && <span>{WORDS[now]}</span>}
    </div>
  );
}
