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
function defaultsOf({ images, roles, tier }: Choices): Defaults {
  const image = images[0]?.key;
  const role = roles[0]?.key;
  const sizes = tier ? presets(tier) : [];
  const size = (sizes[1] ?? sizes[0])?.resources;
  return { ...(image && { image }), ...(role && { role }), ...size };
}

type Defaults = Partial<NewContainer>;
type Correction = (body: NewContainer) => Defaults;

const SIZES = ['memory_mb', 'cpu_shares', 'disk_mb'] as const;

/** Other defaults for what newer choices no longer have. Numbers that the user has entered stay. */
const corrected =
  (before: Choices, now: Choices): Correction =>
  (body) => {
    const { image, role, ...size } = defaultsOf(now);
    const { tier } = now;
    const isOwn = SIZES.some((key) => body[key] !== defaultsOf(before)[key]);
    const fits =
      tier && SIZES.every((key) => (body[key] ?? 0) <= tier[key].max && (body[key] ?? 0) >= tier[key].min);
    return {
      ...(image && !now.images.some(({ key }) => key === body.image) && { image }),
      ...(role && !now.roles.some(({ key }) => key === body.role) && { role }),
      ...(!isOwn && !fits && size),
    };
  };

/**
 * The choices for a new container; `onKnown` gets the defaults as soon as they are, and others when newer choices lack
 * some of them.
 */
export function useCatalogue(onKnown: (defaults: Correction) => void) {
  const [value, setValue] = useState(known);
  const [failure, setFailure] = useState<unknown>(null);
  useEffect(() => {
    if (value !== null) onKnown(() => defaultsOf(value));
    getCatalogue().then((catalogue) => {
      const choices = choicesOf(catalogue);
      last = { userId: user()?.id ?? '', choices };
      setValue(choices);
      onKnown(value === null ? () => defaultsOf(choices) : corrected(value, choices));
    }, setFailure);
  }, []);
  return { value, failure };
}
