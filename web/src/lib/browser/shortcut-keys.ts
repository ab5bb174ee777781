import { singleKeys } from './preferences.ts';

const isMac = (): boolean => /Mac|iPhone|iPad/.test(navigator.userAgent);

/** Shortcuts that have Command on a Mac. All others have its Control. */
const WITH_COMMAND: Readonly<Record<string, string>> = {
  'Ctrl K': '⌘ K',
  'Ctrl Shift K': '⌘ K',
  'Ctrl Shift F': '⌘ F',
  'Ctrl Shift C': '⌘ C',
  'Ctrl Shift V': '⌘ V',
  'Ctrl +': '⌘ +',
  'Ctrl −': '⌘ −',
  'Ctrl 0': '⌘ 0',
};

const onMac = (keys: string): string => WITH_COMMAND[keys] ?? keys.replace('Ctrl', '⌃').replace('Shift', '⇧');

const isSingle = (keys: string): boolean => /^(Shift )?[a-z/?]$/i.test(keys);

/** The keys of a shortcut, such as `Ctrl Shift F`, as this keyboard names them; none for a single key while those are switched off. */
export function shownKeys(keys: string | undefined): readonly string[] {
  if (keys === undefined || (isSingle(keys) && !singleKeys.value)) return [];
  return (isMac() ? onMac(keys) : keys).split(' ');
}

const NAMES: Readonly<Record<string, string>> = {
  Ctrl: 'Control',
  '⌃': 'Control',
  '⇧': 'Shift',
  '⌘': 'Meta',
  '−': '-',
};

/** The same for assistive technology. */
export function namedKeys(keys: string | undefined): string | undefined {
  const shown = shownKeys(keys).map((key) => NAMES[key] ?? key);
  return shown.length === 0 ? undefined : shown.join('+');
}
