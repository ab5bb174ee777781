import type { User } from '../../api/types.ts';
import { path } from '../../lib/browser/router.ts';
import { Icon } from '../../ui/icon.tsx';
import { type Destination, destinationsOf, isWithin } from './destinations.ts';

/** The areas of the page: at the side of wide windows, at the bottom of narrow ones. */
export function Navigation({ user }: { user: User }) {
  return (
    <nav class="navigation" aria-label="Main">
      {destinationsOf(user).map((each) => (
        <Entry key={each.href} destination={each} />
      ))}
    </nav>
  );
}

function Entry({ destination }: { destination: Destination }) {
  const { href, label, shortLabel = label, icon } = destination;
  return (
    <a href={href} aria-current={isWithin(destination, path.value) ? 'page' : undefined}>
      <Icon name={icon} size={18} />
      <span class="long-label">{label}</span>
      <span class="short-label">{shortLabel}</span>
    </a>
  );
}
