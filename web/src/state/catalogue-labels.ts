import { signal } from '@preact/signals';
import { type Catalogue, getCatalogue } from '../api/containers/containers.ts';
import type { Container } from '../api/types.ts';
import { onNotices } from '../lib/browser/network-notices.ts';
import { singleFlight } from '../lib/single-flight.ts';

type Named = Pick<Container, 'image' | 'role'>;

const known = signal<Catalogue | null>(null);

const load = singleFlight(async () => {
  // why: without them the list shows keys, and old ones are better than none
  known.value = await getCatalogue().catch(() => known.value);
});

/** Loads the names of images and roles, again whenever the page is visible again, until the returned function is called. */
export function followLabels(): () => void {
  void load();
  return onNotices({ wake: () => void load() });
}

const imageOf = ({ image }: Named) => known.value?.images.find(({ reference }) => reference === image);
const roleOf = ({ role }: Named) => known.value?.roles.find(({ key }) => key === role);

const asked = new Set<string>();

/** Loads the names again when one of these containers has an image or a role that is new here. */
export function learnLabels(containers: readonly Named[]): void {
  if (known.peek() === null) return;
  const unknown = containers.flatMap((one) => [
    ...(imageOf(one) === undefined ? [`image ${one.image}`] : []),
    ...(roleOf(one) === undefined ? [`role ${one.role}`] : []),
  ]);
  if (unknown.every((each) => asked.has(each))) return;
  for (const each of unknown) asked.add(each);
  void load();
}

/** `Debian 12 · Standard`: image and role as an administrator named them. */
export const labelsOf = (container: Named): string =>
  `${imageOf(container)?.label ?? container.image} · ${roleOf(container)?.label ?? container.role}`;
