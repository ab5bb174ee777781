import type { FastifyBaseLogger } from 'fastify';
import { say } from './console-progress.ts';

const STOP_WITHIN_MS = 30_000;
/** EX_SOFTWARE of sysexits.h. */
const EX_FAULT = 70;

/** Prints why the shutdown is incomplete: the next start has to clean up. */
function endNow(reason: unknown): never {
  process.stderr.write(
    `Berth did not shut down cleanly: ${reason instanceof Error ? reason.stack : reason}\n`,
  );
  process.exit(1);
}

/**
 * Shuts the process down cleanly on the first signal, when the launcher ends, or after an uncaught error, which is logged
 * and sets exit code 70. A second signal ends the process at once. Returns the signal handler.
 */
export function stopOnSignal(log: Pick<FastifyBaseLogger, 'fatal'>, stop: () => Promise<void>): () => void {
  let exitCode: number | null = null;
  const end = (code: number): void => {
    exitCode = code;
    say('Stopping …');
    setTimeout(() => endNow(`it took longer than ${STOP_WITHIN_MS / 1_000} s`), STOP_WITHIN_MS).unref();
    stop().then(() => process.exit(exitCode ?? code), endNow);
  };
  const isStopping = (): boolean => exitCode !== null;
  const onSignal = (): void => (isStopping() ? endNow('a second signal arrived') : end(0));
  // Node.js emits it for unhandled rejections too.
  process.on('uncaughtException', (err, origin) => {
    log.fatal({ err, origin }, 'uncaught error: stopping the service');
    if (isStopping()) exitCode = EX_FAULT;
    else end(EX_FAULT);
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, onSignal);
  process.once('disconnect', () => isStopping() || onSignal());
  // Listening to the launcher's channel must not keep the process alive after a failed start.
  process.channel?.unref();
  // A closed stdout or stderr is no reason to stop.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  return onSignal;
}

/**
 * SIGHUP rotates the keys. A service started by hand in a terminal stops instead, since it means that the terminal is
 * gone.
 */
export function rotateOnSignal(onSignal: () => void, rotateKeys: () => Promise<void>): void {
  process.on('SIGHUP', () => {
    if (process.stdout.isTTY && !process.connected) onSignal();
    else void rotateKeys();
  });
}
