type Press = Pick<KeyboardEvent, 'code' | 'repeat'>;

let acted: string | null = null;

/**
 * Whether the key has acted already and is still down: its repeats belong neither to the page nor to a shell, even when
 * the first press has moved the focus.
 */
export function isHeld({ code, repeat }: Press): boolean {
  if (!repeat) acted = null;
  return repeat && code === acted;
}

/** This press of the key has acted. */
export function keyActed({ code }: Press): void {
  acted = code;
}
