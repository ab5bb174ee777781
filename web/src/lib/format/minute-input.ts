const two = (value: number): string => String(value).padStart(2, '0');

/** A time as an input of type `datetime-local` shows it, in the zone of the reader's clock; empty for none. */
export function minuteInput(iso: string | null): string {
  if (iso === null) return '';
  const time = new Date(iso);
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day}T${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** What such an input holds, in ISO 8601; null when it is empty or incomplete. */
export function minuteOf(text: string): string | null {
  const time = new Date(text);
  return text === '' || Number.isNaN(time.getTime()) ? null : time.toISOString();
}
