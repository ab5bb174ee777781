import type { DomainError } from '../domain/errors.ts';
import type { Result } from '../domain/result.ts';

/** What a use case answers: a value, or a refusal that the interface names. It rejects for a fault. */
export type AsyncResult<T> = Promise<Result<T, DomainError>>;
