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
  return (
    <>
      <span aria-hidden="true">{words(left)}</span>
      <span class="visually-hidden">{words(seconds)}</span>
    </>
  );
}
