import { InvalidArgumentError } from '@commander-js/extra-typings';

const MB: Readonly<Record<string, number>> = {
  '': 1,
  m: 1,
  mb: 1,
  g: 1024,
  gb: 1024,
  t: 1_048_576,
  tb: 1_048_576,
};

/** `512`, `512m`, `2g`, `1.5g` as megabytes. */
export function megabytes(text: string): number {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text.trim()) ?? [];
  const size = Number(number) * (MB[unit.toLowerCase()] ?? Number.NaN);
  if (number === '' || !Number.isInteger(size)) {
    throw new InvalidArgumentError('Give whole megabytes, such as 512, 512m or 2g.');
  }
  return size;
}

/** `1`, `0.5`, `1500m` as millicores. */
export function millicores(text: string): number {
  const [, number = '', milli] = /^(\d+(?:\.\d+)?)(m?)$/i.exec(text.trim()) ?? [];
  const cores = milli ? Number(number) : Number(number) * 1000;
  if (number === '' || !Number.isInteger(cores)) {
    throw new InvalidArgumentError('Give processors, such as 1, 0.5 or 1500m.');
  }
  return cores;
}

/** `2 GB`, `512 MB`. */
export const sizeText = (mb: number | null): string => {
  if (mb === null) return '–';
  return mb >= 1024 ? `${Number((mb / 1024).toFixed(1))} GB` : `${Math.round(mb)} MB`;
};

export const bytesText = (bytes: number | null): string =>
  bytes === null ? '–' : bytes < 1_048_576 ? `${Math.ceil(bytes / 1024)} KB` : sizeText(bytes / 1_048_576);

/** `1.5 CPU` */
export const cpuText = (millicores: number | null): string =>
  millicores === null ? '–' : `${Number((millicores / 1000).toFixed(2))} CPU`;
