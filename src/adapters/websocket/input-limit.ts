import { fullRate, restMs, takeTokens } from '../../domain/terminals/socket-input-rate.ts';
import type { SocketRest } from './socket-reader.ts';

/** Bytes that a frame counts for beside what is in it: empty ones are work as well. */
const FRAME_BYTES = 64;

/** Reads a socket no faster than input may come (R43). What it returns is told of every frame. */
export function inputLimit(rest: SocketRest, nowMs = () => performance.now()): (bytes: number) => void {
  let rate = fullRate(nowMs());
  return (bytes) => {
    rate = takeTokens(rate, bytes + FRAME_BYTES, nowMs());
    const ms = restMs(rate);
    if (ms > 0 && rest.begin('rate')) setTimeout(() => rest.end('rate'), ms).unref();
  };
}
