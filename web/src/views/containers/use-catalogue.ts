import { useEffect, useState } from 'preact/hooks';
import { type Catalogue, getCatalogue } from '../../api/containers/containers.ts';
import type { NewContainer, Tier, User } from '../../api/types.ts';
import { presets } from '../../lib/format/resource-sizes.ts';
import { session } from '../../session/session.ts';

export type Choices = Pick<Catalogue, 'images' | 'roles'> & { readonly tier: Tier | undefined };

/** The newest choices and their user: another user may have another tier. */
let last: { readonly userId: string; readonly choices: Choices } | null = null;

function user(): User | null {
  const now = session.peek();
  return now.kind === 'signed_in' ? now.user : null;
}

const known = (): Choices | null => (last !== null && last.userId === user()?.id ? last.choices : null);

const choicesOf = ({ images, roles, tiers }: Catalogue): Choices => ({
  images,
  roles,
  tier: tiers.find(({ name }) => name === user()?.tier),
});

/** The defaults of a new container. */
function defaultsOf({ images, roles, tier }: Choices): Partial<NewContainer> {
  const image = images[0]?.key;
  const role = roles[0]?.key;
  const sizes = tier ? presets(tier) : [];
  const size = (sizes[1] ?? sizes[0])?.resources;
  return { ...(image && { image }), ...(role && { role }), ...size };
}

/** The choices for a new container; `onKnown` gets the defaults as soon as they are. */
export function useCatalogue(onKnown: (defaults: Partial<NewContainer>) => void) {
  const [value, setValue] = useState(known);
  const [failure, setFailure] = useState<unknown>(null);
  useEffect(() => {
    if (value !== null) onKnown(defaultsOf(value));
    getCatalogue().then((catalogue) => {
      const choices = choicesOf(catalogue);
      last = { userId: user()?.id ?? '', choices };
      setValue(choices);
      if (value === null) onKnown(defaultsOf(choices));
    }, setFailure);
  }, []);
  return { value, failure };
}
