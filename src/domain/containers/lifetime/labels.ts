import type { FieldFaults } from '../../field-faults.ts';

export type Labels = Readonly<Record<string, string>>;

export const MAX_LABELS = 32;
const KEY = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$/;
const MAX_VALUE_LENGTH = 255;
/** A value is shown in lists and terminals. */
const CONTROL = /[\p{Cc}\p{Cf}]/u;

/** At most 32; keys of 1 to 63 letters, digits and `._/-`, beginning with a letter or digit; values of at most 255 characters. */
export function labelFaults(labels: Labels): FieldFaults {
  const entries = Object.entries(labels);
  if (entries.length > MAX_LABELS) return { labels: `must have at most ${MAX_LABELS} keys` };
  if (entries.some(([key]) => !KEY.test(key)))
    return {
      labels:
        'keys must be 1 to 63 letters, digits, dots, slashes, hyphens or underscores, beginning with a letter or digit',
    };
  if (entries.some(([, value]) => value.length > MAX_VALUE_LENGTH || CONTROL.test(value)))
    return { labels: `values must be at most ${MAX_VALUE_LENGTH} printable characters` };
  return {};
}

export type LabelFilter = { readonly key: string; readonly value: string };

/** `key:value` as sent; null when it has another form. A key has no colon, so the first one ends it. */
export function parseLabelFilter(text: string): LabelFilter | null {
  const colon = text.indexOf(':');
  const key = text.slice(0, Math.max(0, colon));
  return KEY.test(key) ? { key, value: text.slice(colon + 1) } : null;
}

/** Whether all filters match. */
export const hasLabels = (labels: Labels, filters: readonly LabelFilter[]): boolean =>
  filters.every(({ key, value }) => Object.hasOwn(labels, key) && labels[key] === value);
