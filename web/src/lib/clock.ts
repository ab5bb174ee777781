import { signal } from '@preact/signals';

/** The time, coarse enough for words like `5 min ago`. */
export const now = signal(new Date());

export function startClock(): void {
  setInterval(() => {
    now.value = new Date();
  }, 20_000);
}
