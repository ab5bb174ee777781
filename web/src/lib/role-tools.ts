import type { Role } from '../api/types.ts';

/** Keeps the hint on one line of a dialog. */
const MAX_CHARACTERS = 24;

export const addsTools = ({ packages }: Pick<Role, 'packages'>): boolean =>
  Object.values(packages).some((list) => list.length > 0);

/** The tools of a role in a short line. */
export function toolsHint(role: Pick<Role, 'packages'> | undefined): string {
  const names = Object.values(role?.packages ?? {}).find((list) => list.length > 0) ?? [];
  const [first, ...others] = names;
  if (first === undefined) return 'Only what the image includes.';
  const named = others.reduce((text, name) => {
    const longer = `${text}, ${name}`;
    return longer.length <= MAX_CHARACTERS ? longer : text;
  }, first);
  const rest = names.length - named.split(', ').length;
  return `Adds ${named}${rest > 0 ? ` and ${rest} more` : ''}.`;
}

/** Names that are separated by spaces, commas or lines. */
export const namesIn = (text: string): string[] => text.split(/[\s,]+/).filter((name) => name !== '');
