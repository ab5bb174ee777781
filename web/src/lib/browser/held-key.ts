type Press = Pick<KeyboardEvent, 'code' | 'repeat'>;

let acted: string | null = null;

/** Notes each fresh press, before anything acts on it. */
export function startHeldKeys(): void {
  const onKey = ({ repeat }: KeyboardEvent): void => {
    if (!repeat) acted = null;
  };
  addEventListener('keydown', onKey, { capture: true });
}

/**
 * Whether the key has acted already and is still down: its repeats belong neither to the page nor to a shell or a field,
 * even when the first press has moved the focus there.
 */
export const isHeld = ({ code, repeat }: Press): boolean => repeat && code === acted;

/** This press of the key has acted. */
export function keyActed({ code }: Press): void {
  acted = code;
}
