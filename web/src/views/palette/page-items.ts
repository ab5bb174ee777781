import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { MenuItem } from '../../ui/menu.tsx';

/** Actions of the terminal on the page, for the palette. */
export const terminalPageItems = signal<readonly MenuItem[]>([]);

/** Offers the actions in the palette as long as the component is on the page. */
export function usePaletteItems(items: readonly MenuItem[]): void {
  useEffect(() => {
    terminalPageItems.value = items;
  });
  useEffect(
    () => () => {
      terminalPageItems.value = [];
    },
    [],
  );
}
