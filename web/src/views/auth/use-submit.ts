import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { BerthError, type FieldFaults, fieldFaults } from '../../api/errors.ts';
import { explain } from '../../api/explain.ts';
import { incompleteInputs } from './incomplete-inputs.ts';

const NONE: FieldFaults = {};

/** Codes that are about a field: the first of these that the form has. */
const OF_A_FIELD: Readonly<Record<string, readonly string[]>> = {
  wrong_code: ['code'],
  wrong_password: ['old_password', 'password'],
  wrong_passcode: ['current_passcode', 'passcode'],
};

function faultsOf(failure: unknown, fieldNames: readonly string[]): FieldFaults {
  if (!(failure instanceof BerthError)) return NONE;
  const field = OF_A_FIELD[failure.code]?.find((name) => fieldNames.includes(name));
  if (field === undefined) return fieldFaults(failure);
  const { title, next } = explain(failure);
  return { [field]: `${title}. ${next}` };
}

/** Throws, as the service would answer, when a field has half a date in it. */
function requireComplete(form: HTMLFormElement | null): void {
  const fields = incompleteInputs(form?.querySelectorAll('input') ?? []);
  if (Object.keys(fields).length === 0) return;
  throw new BerthError(400, 'validation_failed', 'invalid request', { fields });
}

/** Focuses the first field at fault, or scrolls to the failure. */
function showFault(form: HTMLFormElement | null): void {
  const field = form?.querySelector<HTMLInputElement>('[aria-invalid=true]');
  field?.focus();
  field?.select?.();
  if (!field) form?.querySelector('.problem')?.scrollIntoView({ block: 'nearest' });
}

/** The state of a form: whether it is being sent, why it failed, and which fields are at fault. */
export function useSubmit(work: () => Promise<unknown>, fieldNames: readonly string[]) {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const form = useRef<HTMLFormElement | null>(null);
  useLayoutEffect(() => {
    if (failure !== null) showFault(form.current);
  }, [failure]);
  const faults = faultsOf(failure, fieldNames);
  const allShown =
    Object.keys(faults).length > 0 && Object.keys(faults).every((name) => fieldNames.includes(name));

  const submit = async (event?: Event): Promise<void> => {
    event?.preventDefault();
    if (busy) return;
    form.current = event?.currentTarget instanceof HTMLFormElement ? event.currentTarget : null;
    setBusy(true);
    setFailure(null);
    try {
      requireComplete(form.current);
      await work();
    } catch (reason) {
      setFailure(reason);
    } finally {
      setBusy(false);
    }
  };

  /** `failure` is null when every fault is shown at its field; `reason` is the failure wherever it is shown. */
  return { submit, busy, faults, failure: allShown ? null : failure, reason: failure };
}

type Texts = Readonly<Record<string, string>>;

/** A form of text fields, by their names on the wire. `others`: the names of its other fields. */
export function useForm<T extends Texts>(
  initial: T,
  work: (values: T) => Promise<unknown>,
  others: readonly string[] = [],
) {
  const [values, setValues] = useState(initial);
  const form = useSubmit(() => work(values), [...Object.keys(initial), ...others]);
  /** The properties of the field's input. */
  const field = (name: keyof T & string) => ({
    value: values[name] ?? '',
    onInput: (value: string): void => setValues((before) => ({ ...before, [name]: value })),
    error: form.faults[name],
  });
  return { ...form, values, field, reset: () => setValues(initial) };
}
