import { signal } from '@preact/signals';
import { type Catalogue, getCatalogue } from '../api/containers/containers.ts';
import type { Container } from '../api/types.ts';

const known = signal<Catalogue | null>(null);

/** Loads the names of images and roles once. */
export async function loadLabels(): Promise<void> {
  if (known.value !== null) return;
  // why: without them the list shows keys
  known.value = await getCatalogue().catch(() => null);
}

/** `Debian 12 · Standard`: image and role as an administrator named them. */
export function labelsOf({ image, role }: Pick<Container, 'image' | 'role'>): string {
  const ofImage = known.value?.images.find(({ reference }) => reference === image)?.label ?? image;
  const ofRole = known.value?.roles.find(({ key }) => key === role)?.label ?? role;
  return `${ofImage} · ${ofRole}`;
}
