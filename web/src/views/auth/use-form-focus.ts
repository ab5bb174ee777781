import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/**
 * The first field has the focus when the form appears. After a failure it is the first field at fault, or the secret,
 * selected, so that typing replaces it. `reason`: why the form failed last; null when it has not.
 */
export function useFormFocus(reason: unknown): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => form.current?.querySelector<HTMLInputElement>('input:not([readonly])')?.focus(), []);
  useLayoutEffect(() => {
    if (reason === null) return;
    const find = (selector: string) => form.current?.querySelector<HTMLInputElement>(selector);
    const field = find('[aria-invalid=true]') ?? find('[name=password], [name$=code]');
    field?.focus();
    field?.select();
  }, [reason]);
  return form;
}
