import { isDark, switchColours } from '../lib/browser/preferences.ts';
import { IconButton } from '../ui/button.tsx';

export function ThemeButton() {
  const dark = isDark();
  return (
    <IconButton
      icon={dark ? 'sun' : 'moon'}
      label={dark ? 'Use light colours' : 'Use dark colours'}
      onClick={switchColours}
    />
  );
}
