import { useEffect, useState } from 'preact/hooks';
import { getVersion } from '../../api/health.ts';
import { copyText } from '../../lib/browser/clipboard.ts';
import { go } from '../../lib/browser/router.ts';
import { toastOk } from '../../state/toasts.ts';
import { item, Menu } from '../../ui/menu.tsx';

export const copyVersion = async (version: string): Promise<void> => {
  if (await copyText(`Berth ${version}`)) toastOk('Version copied');
};

/** In a tab of its own: a terminal stays open beside it. */
export const openGuide = (): void => void open('/help', '_blank', 'noopener');

function useVersion(): string | null {
  const [version, setVersion] = useState<string | null>(null);
  useEffect(() => {
    // why: without it the menu lacks one line
    getVersion().then(setVersion, () => {});
  }, []);
  return version;
}

/** Where to learn more, and which version this is. */
export function HelpMenu({ onShortcuts }: { onShortcuts: () => void }) {
  const version = useVersion();
  return (
    <Menu
      label="Help"
      icon="help"
      items={[
        item('keyboard', 'Keyboard shortcuts', onShortcuts, { keys: '?' }),
        item('help', 'Guide', openGuide),
        item('terminal', 'Command line', () => go('/settings/tokens')),
        item('code', 'API reference', () => void open('/docs', '_blank', 'noopener')),
        ...(version === null
          ? []
          : [item('copy', `Copy version ${version}`, () => void copyVersion(version))]),
      ]}
    />
  );
}
