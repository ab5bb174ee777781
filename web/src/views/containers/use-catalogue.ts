import { useEffect, useState } from 'preact/hooks';
import { type Catalogue, getCatalogue } from '../../api/containers.ts';
import type { NewContainer, Tier } from '../../api/types.ts';
import { presets } from '../../lib/sizes.ts';
import { session } from '../../session/session.ts';

export type Choices = Pick<Catalogue, 'images' | 'roles'> & { readonly tier: Tier | undefined };

let known: Choices | null = null;

function choicesOf({ images, roles, tiers }: Catalogue): Choices {
  const mine = session.value.kind === 'signed_in' ? session.value.user.tier : '';
  return { images, roles, tier: tiers.find(({ name }) => name === mine) };
}

/** What a new container is when nothing is chosen. */
function defaultsOf({ images, roles, tier }: Choices): Partial<NewContainer> {
  const image = images[0]?.key;
  const role = roles[0]?.key;
  const sizes = tier ? presets(tier) : [];
  const size = (sizes.find(({ key }) => key === 'medium') ?? sizes[1] ?? sizes[0])?.resources;
  return { ...(image && { image }), ...(role && { role }), ...size };
}

/** The choices for a new container; `onKnown` gets the defaults as soon as they are. */
export function useCatalogue(onKnown: (defaults: Partial<NewContainer>) => void) {
  const [value, setValue] = useState<Choices | null>(known);
  const [failure, setFailure] = useState<unknown>(null);
  useEffect(() => {
    if (known !== null) onKnown(defaultsOf(known));
    getCatalogue().then((catalogue) => {
      const first = known === null;
      known = choicesOf(catalogue);
      setValue(known);
      if (first) onKnown(defaultsOf(known));
    }, setFailure);
  }, []);
  return { value, failure };
}
