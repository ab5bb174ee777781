/**
 * Days as a date field gives them, `2026-03-01`, as times for a query: from the first moment of `from` up to the end of `to`,
 * as the clock on the wall says. An empty or half-typed one is left out.
 */
export const dayRange = (from: string, to: string): { from: string; to: string } => ({
  from: midnight(from, 0),
  to: midnight(to, 1),
});

function midnight(day: string, daysLater: number): string {
  const [year, month, date] = day.split('-').map(Number);
  if (year === undefined || month === undefined || date === undefined) return '';
  // why: the constructor takes years below 100 for those of the last century, and dates fields give them while one types
  const at = new Date(year, month - 1, date + daysLater);
  return Number.isNaN(at.getTime()) || year < 1000 ? '' : at.toISOString();
}
