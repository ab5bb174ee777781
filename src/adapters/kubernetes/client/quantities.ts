const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  Ki: 1024,
  M: 1e6,
  Mi: 1024 ** 2,
  G: 1e9,
  Gi: 1024 ** 3,
  T: 1e12,
  Ti: 1024 ** 4,
};

/** A quantity of the API, such as `512Mi`, in MiB; null for one in another form. */
export function mebibytes(quantity: string): number | null {
  const [, digits, unit = ''] = /^(\d+(?:\.\d+)?)(|[kMGT]|[KMGT]i)$/.exec(quantity) ?? [];
  const factor = UNITS[unit];
  return digits === undefined || factor === undefined ? null : (Number(digits) * factor) / 1024 ** 2;
}

/** A quantity of processor time, such as `2` or `500m`, in millicores; null for one in another form. */
export function millicores(quantity: string): number | null {
  const [, digits, unit] = /^(\d+(?:\.\d+)?)(m?)$/.exec(quantity) ?? [];
  return digits === undefined ? null : Number(digits) * (unit === 'm' ? 1 : 1000);
}
