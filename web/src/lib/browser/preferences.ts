import { effect, signal } from '@preact/signals';
import { store, stored } from './storage.ts';

export type Theme = 'system' | 'light' | 'dark';

const THEMES: readonly Theme[] = ['system', 'light', 'dark'];
export const MIN_FONT_PX = 9;
export const MAX_FONT_PX = 28;
export const DEFAULT_FONT_PX = 14;

export const theme = signal<Theme>(THEMES.find((each) => each === stored('theme')) ?? 'system');
export const fontSizePx = signal(clampFont(Number(stored('font_px') ?? DEFAULT_FONT_PX)));

/** Whether lists of containers show each one in a single line, where that fits. */
export const compactRows = signal(stored('rows') === 'compact');

/** Whether terminals let screen readers read their output. */
export const screenReader = signal(stored('screen_reader') === 'on');

/** Whether single keys, such as `n`, are shortcuts. */
export const singleKeys = signal(stored('single_keys') !== 'off');

const systemIsDark = matchMedia('(prefers-color-scheme: dark)');
const systemDark = signal(systemIsDark.matches);

/** Whether dark colours are shown now. */
export const isDark = (): boolean => (theme.value === 'system' ? systemDark.value : theme.value === 'dark');

export function clampFont(px: number): number {
  return Number.isFinite(px) ? Math.min(MAX_FONT_PX, Math.max(MIN_FONT_PX, Math.round(px))) : DEFAULT_FONT_PX;
}

/** Switches between light and dark; to the system's own colours without fixing them. */
export function switchColours(): void {
  const dark = !isDark();
  theme.value = dark === systemDark.value ? 'system' : dark ? 'dark' : 'light';
}

export const switchRows = (): void => {
  compactRows.value = !compactRows.value;
};

/** Keeps the page and the storage in step with the preferences. */
export function startPreferences(): void {
  systemIsDark.addEventListener('change', ({ matches }) => {
    systemDark.value = matches;
  });
  effect(() => {
    document.documentElement.dataset['theme'] = theme.value;
    store('theme', theme.value);
  });
  effect(() => store('rows', compactRows.value ? 'compact' : null));
  effect(() => store('single_keys', singleKeys.value ? null : 'off'));
  effect(() => store('screen_reader', screenReader.value ? 'on' : null));
  effect(() => store('font_px', String(fontSizePx.value)));
}
