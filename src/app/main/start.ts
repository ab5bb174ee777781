import { readFileSync } from 'node:fs';
import path from 'node:path';
import pino from 'pino';
import type { Config } from './config.ts';
import { addressOf, originsOf, requireFreePort } from './listening.ts';
import { type Production, production } from './production.ts';
import { say } from './progress.ts';
import { REDACTED } from './redaction.ts';

const STOP_WITHIN_MS = 30_000;
// src/app/main and dist/app/main are equally deep.
const ROOT = path.resolve(import.meta.dirname, '../../..');

/** Starts everything and prints where; stops it all when told to. `checkpoint` is for tests that end the process. */
export async function startService(
  config: Config,
  checkpoint?: (name: string) => Promise<void>,
): Promise<void> {
  await requireFreePort(config.host, config.port);
  const log = pino({ level: config.logLevel, redact: REDACTED }, pino.destination(2));
  const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
    version: string;
  };
  const allowedOrigins = new Set(config.allowedOrigins);
  const starting = production({
    config,
    log,
    version,
    root: ROOT,
    allowedOrigins,
    ...(checkpoint === undefined ? {} : { checkpoint }),
  });
  stopWhenTold(
    () => starting.then((running) => running.stop()),
    () => starting.then((running) => running.rotateKeys()),
  );
  const running = await starting;
  try {
    await announce(config, running, allowedOrigins);
  } catch (error) {
    await running.stop();
    throw error;
  }
}

/** Listens, and says where; the set-up link carries its code behind a `#`, which no browser sends anywhere. */
async function announce(
  { host, port, publicUrl, admin, ...config }: Config,
  running: Production,
  allowed: Set<string>,
) {
  const { http, accounts } = running.service;
  if (admin !== null) await accounts.ensureAdmin(admin.email, admin.password);
  await http.listen({ host, port });
  const bound = http.addresses()[0];
  const address = publicUrl ?? addressOf(host, typeof bound === 'object' ? bound.port : port);
  if (config.allowedOrigins.length === 0) for (const origin of originsOf(address)) allowed.add(origin);
  const mend = running.mend();
  if (mend !== null) say(`There is no container engine. To mend that: ${mend}`);
  const code = await accounts.newSetupCode();
  if (code === null) say(`Berth is ready: ${address}`);
  else say(`Berth is ready. Make the first administrator here: ${address}/setup#code=${code}`);
}

/** What a stop was kept from must be known: the next start has to make up for it. */
function endNow(reason: unknown): never {
  process.stderr.write(`Berth did not stop in order: ${reason instanceof Error ? reason.stack : reason}\n`);
  process.exit(1);
}

/**
 * The first signal, or the end of the launcher, stops in order; a second one at once. SIGHUP rotates the keys, but for a
 * service that was started in a terminal by hand: there it says that the terminal has gone.
 */
function stopWhenTold(stop: () => Promise<void>, rotateKeys: () => Promise<void>): void {
  let stopping = false;
  const onSignal = (): void => {
    if (stopping) endNow('it was told to a second time');
    stopping = true;
    say('Stopping …');
    setTimeout(() => endNow(`not within ${STOP_WITHIN_MS / 1_000} s`), STOP_WITHIN_MS).unref();
    stop().then(() => process.exit(0), endNow);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, onSignal);
  process.on('SIGHUP', () => {
    if (process.stdout.isTTY && !process.connected) onSignal();
    else void rotateKeys();
  });
  process.once('disconnect', () => stopping || onSignal());
  // The launcher's channel is listened to, but must not keep a start that failed alive.
  process.channel?.unref();
}
