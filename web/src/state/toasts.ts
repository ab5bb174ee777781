import { signal } from '@preact/signals';
import { explain } from '../api/explain.ts';
import { engineIsDown } from './health.ts';

export type Toast = {
  readonly id: number;
  readonly kind: 'ok' | 'warning' | 'error';
  readonly title: string;
  readonly next: string | null;
};

export const toasts = signal<readonly Toast[]>([]);

const OK_MS = 5_000;
const ERROR_MS = 15_000;
let lastId = 0;

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

function show(kind: Toast['kind'], title: string, next: string | null): void {
  lastId += 1;
  const id = lastId;
  const others = toasts.value.filter((toast) => toast.title !== title).slice(-2);
  toasts.value = [...others, { id, kind, title, next }];
  setTimeout(() => dismiss(id), kind === 'ok' ? OK_MS : ERROR_MS);
}

export const toastOk = (title: string): void => show('ok', title, null);

export const toastWarning = (title: string, next: string): void => show('warning', title, next);

export function toastFailure(failure: unknown): void {
  const { title, next } = explain(failure, engineIsDown());
  show('error', title, next);
}
