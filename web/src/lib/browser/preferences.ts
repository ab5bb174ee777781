import { effect, type Signal, signal } from '@preact/signals';
import { onStored, store, stored } from './storage.ts';

export type Theme = 'system' | 'light' | 'dark';

const THEMES: readonly Theme[] = ['system', 'light', 'dark'];
export const MIN_FONT_PX = 9;
export const MAX_FONT_PX = 28;
export const DEFAULT_FONT_PX = 14;

/** What this browser keeps of each preference. */
const kept = {
  theme: (): Theme => THEMES.find((each) => each === stored('theme')) ?? 'system',
  fontPx: () => clampFont(Number(stored('font_px') ?? DEFAULT_FONT_PX)),
  compactRows: () => stored('rows') === 'compact',
  screenReader: () => stored('screen_reader') === 'on',
  singleKeys: () => stored('single_keys') !== 'off',
};

export const theme = signal(kept.theme());
export const fontSizePx = signal(kept.fontPx());

/** Whether lists of containers show each one in a single line, where that fits. */
export const compactRows = signal(kept.compactRows());

/** Whether terminals let screen readers read their output. */
export const screenReader = signal(kept.screenReader());

/** Whether single keys, such as `n`, are shortcuts. */
export const singleKeys = signal(kept.singleKeys());

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
  followOtherTabs();
}

function followOtherTabs(): void {
  const follow = <T>(key: string, preference: Signal<T>, read: () => T): void =>
    void onStored(key, () => {
      preference.value = read();
    });
  follow('theme', theme, kept.theme);
  follow('rows', compactRows, kept.compactRows);
  follow('single_keys', singleKeys, kept.singleKeys);
  follow('screen_reader', screenReader, kept.screenReader);
  follow('font_px', fontSizePx, kept.fontPx);
}
