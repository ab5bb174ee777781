import { useCountdown } from './use-countdown.ts';

type CountdownProps = {
  /** Until when it counts; null for no count. */
  readonly seconds: number | null;
  readonly words: (secondsLeft: number | null) => string;
};

/** Words with the seconds that are left. Screen readers hear the first ones only. */
export function Countdown({ seconds, words }: CountdownProps) {
  const left = useCountdown(seconds === null ? null : seconds * 1000);
  if (seconds === null) return <>{words(null)}</>;
  return <SpokenOnce words={words(left)} spoken={words(seconds)} />;
}

/** Words that change often. Screen readers hear others, which do not. */
export const SpokenOnce = ({ words, spoken }: { words: string; spoken: string }) => (
  <>
    <span aria-hidden="true">{words}</span>
    <span class="visually-hidden">{spoken}</span>
  </>
);
