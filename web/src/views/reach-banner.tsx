import { type Reach, reach } from '../lib/reach.ts';
import { Spinner } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';

const WORDS: { readonly [R in Exclude<Reach, 'fine'>]: string } = {
  offline: 'You are offline. What you see here is as it was, and is brought up to date when you are back.',
  no_answer: 'Berth does not answer. What you see here is as it was; the page keeps trying.',
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
