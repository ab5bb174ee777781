import { loadavg } from 'node:os';

/** The machine's load in the last minute. */
export const loadNow = (): string => (loadavg()[0] ?? 0).toFixed(1);

export const say = (what: string): void => console.log(`${what} (load ${loadNow()})`);

export const mib = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(0)} MiB`;
