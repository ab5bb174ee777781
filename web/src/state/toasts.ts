import { signal } from '@preact/signals';
import { BerthError } from '../api/errors.ts';
import { explain, waitSecondsOf } from '../api/explain.ts';
import { go } from '../lib/browser/router.ts';
import { engineIsDown } from './health.ts';

/** The button of a toast. */
export type ToastAction = { readonly label: string; readonly run: () => void };

/** What to do next, in words with the seconds that are left of a wait. */
export type Wait = { readonly seconds: number; readonly words: (secondsLeft: number | null) => string };

export type Toast = {
  readonly id: number;
  readonly kind: 'ok' | 'warning' | 'error';
  readonly title: string;
  readonly next: string | Wait | null;
  readonly action: ToastAction | null;
};

export const toasts = signal<readonly Toast[]>([]);

/** A toast's remaining time; `timer` is undefined while somebody reads the toast. */
type Remaining = { leftMs: number; sinceMs: number; timer: ReturnType<typeof setTimeout> | undefined };

const remaining = new Map<number, Remaining>();

const OK_MS = 5_000;
const ERROR_MS = 15_000;
/** A longer wait outlasts its toast. */
const LONGEST_MS = 60_000;
let lastId = 0;

export function dismiss(id: number): void {
  clearTimeout(remaining.get(id)?.timer);
  remaining.delete(id);
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

function show(
  kind: Toast['kind'],
  title: string,
  next: Toast['next'],
  action: ToastAction | null = null,
): number {
  lastId += 1;
  const id = lastId;
  const others = toasts.value.filter((toast) => toast.title !== title).slice(-2);
  for (const { id: old } of toasts.value) if (!others.some((one) => one.id === old)) dismiss(old);
  toasts.value = [...others, { id, kind, title, next, action }];
  dismissLater(id, kind === 'ok' && action === null ? OK_MS : msFor(next));
  return id;
}

/** A toast with a wait stays until it is over, and a while after it. */
function msFor(next: Toast['next']): number {
  if (next === null || typeof next === 'string') return ERROR_MS;
  return Math.min(LONGEST_MS, Math.max(ERROR_MS, next.seconds * 1_000 + OK_MS));
}

function dismissLater(id: number, leftMs: number): void {
  remaining.set(id, { leftMs, sinceMs: performance.now(), timer: setTimeout(dismiss, leftMs, id) });
}

/** Stops a toast's time while `isRead`; some of it is left afterwards. */
export function keepToast(id: number, isRead: boolean): void {
  const one = remaining.get(id);
  if (one === undefined || isRead === (one.timer === undefined)) return;
  clearTimeout(one.timer);
  const leftMs = one.leftMs - (performance.now() - one.sinceMs);
  if (isRead) remaining.set(id, { ...one, leftMs, timer: undefined });
  else dismissLater(id, Math.max(OK_MS, one.leftMs));
}

/** All of these return the toast's id, for `dismiss`. */
export const toastOk = (title: string, action: ToastAction | null = null): number =>
  show('ok', title, null, action);

export const toastWarning = (title: string, next: string, action: ToastAction | null = null): number =>
  show('warning', title, next, action);

export const toastError = (title: string, next: string): number => show('error', title, next);

/** Says what was done, or why it was not; never throws. `failed` is like `what` of `toastFailure`. */
export async function toastOutcome(work: Promise<unknown>, done: string, failed?: string): Promise<void> {
  try {
    await work;
    toastOk(done);
  } catch (failure) {
    toastFailure(failure, failed);
  }
}

/** `what`: what did not come about, said where the failure has no better words. */
export function toastFailure(failure: unknown, what?: string): void {
  const { title: known, next, link } = explain(failure, engineIsDown());
  const isFault = failure instanceof BerthError && failure.code === 'internal_error';
  const title = isFault ? (what ?? known) : known;
  const seconds = waitSecondsOf(failure);
  const words = (left: number | null): string => explain(failure, engineIsDown(), left).next;
  show(
    'error',
    title,
    seconds === null ? next : { seconds, words },
    link ? { label: link.label, run: () => go(link.href) } : null,
  );
}
