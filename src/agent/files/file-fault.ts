import type { FileError } from '../../domain/containers/files.ts';

export type FileFaultCode = FileError['code'];

/** Why a path cannot be used; the code is sent. */
export class FileFault extends Error {
  override name = 'FileFault';
  readonly code: FileFaultCode;
  constructor(code: FileFaultCode) {
    super(code);
    this.code = code;
  }
}

const CODES: { readonly [errno: string]: FileFaultCode } = {
  ENOENT: 'file_not_found',
  ENOTDIR: 'file_not_found',
  ELOOP: 'file_not_found',
  ENAMETOOLONG: 'file_not_found',
  EACCES: 'file_not_permitted',
  EPERM: 'file_not_permitted',
  EROFS: 'file_not_permitted',
  ETXTBSY: 'file_not_permitted',
  EEXIST: 'file_in_the_way',
  EISDIR: 'file_in_the_way',
  ENOTEMPTY: 'file_in_the_way',
  ENXIO: 'file_special',
  EFBIG: 'file_too_large',
  ENOSPC: 'disk_full',
  EDQUOT: 'disk_full',
};

/** The code to send for an error of the file system; null for any other. */
export function faultCode(error: unknown): FileFaultCode | null {
  if (error instanceof FileFault) return error.code;
  return CODES[(error as NodeJS.ErrnoException).code ?? ''] ?? null;
}
