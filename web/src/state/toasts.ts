import { signal } from '@preact/signals';
import { BerthError } from '../api/errors.ts';
import { explain } from '../api/explain.ts';
import { go } from '../lib/browser/router.ts';
import { engineIsDown } from './health.ts';

/** The button of a toast. */
export type ToastAction = { readonly label: string; readonly run: () => void };

export type Toast = {
  readonly id: number;
  readonly kind: 'ok' | 'warning' | 'error';
  readonly title: string;
  readonly next: string | null;
  readonly action: ToastAction | null;
};

export const toasts = signal<readonly Toast[]>([]);

/** Those that somebody reads or has the focus in: they stay. */
const kept = new Set<number>();

const OK_MS = 5_000;
const ERROR_MS = 15_000;
let lastId = 0;

export function dismiss(id: number): void {
  kept.delete(id);
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

function show(kind: Toast['kind'], title: string, next: string | null, action: ToastAction | null): number {
  lastId += 1;
  const id = lastId;
  const others = toasts.value.filter((toast) => toast.title !== title).slice(-2);
  toasts.value = [...others, { id, kind, title, next, action }];
  dismissLater(id, kind === 'ok' && action === null ? OK_MS : ERROR_MS);
  return id;
}

function dismissLater(id: number, ms: number): void {
  setTimeout(() => (kept.has(id) ? dismissLater(id, OK_MS) : dismiss(id)), ms);
}

/** Lets a toast stay while `isRead`, and a while after it. */
export function keepToast(id: number, isRead: boolean): void {
  if (isRead) kept.add(id);
  else kept.delete(id);
}

/** All of these return the toast's id, for `dismiss`. */
export const toastOk = (title: string, action: ToastAction | null = null): number =>
  show('ok', title, null, action);

export const toastWarning = (title: string, next: string, action: ToastAction | null = null): number =>
  show('warning', title, next, action);

export const toastError = (title: string, next: string): number => show('error', title, next, null);

/** `what`: what did not come about, said where the failure has no better words. */
export function toastFailure(failure: unknown, what?: string): void {
  const { title: known, next, link } = explain(failure, engineIsDown());
  const isFault = failure instanceof BerthError && failure.code === 'internal_error';
  const title = isFault ? (what ?? known) : known;
  show('error', title, next, link ? { label: link.label, run: () => go(link.href) } : null);
}
