import { useEffect, useState } from 'preact/hooks';

/** Whole seconds left of `ms`, counting down from the moment it was given; 0 for null. */
export function useCountdown(ms: number | null): number {
  const [left, setLeft] = useState(ms ?? 0);
  useEffect(() => {
    setLeft(ms ?? 0);
    if (ms === null) return;
    const end = performance.now() + ms;
    const timer = setInterval(() => setLeft(Math.max(0, end - performance.now())), 200);
    return () => clearInterval(timer);
  }, [ms]);
  return Math.ceil(left / 1000);
}
