/** `berth/domain`: the rules of Berth as pure functions over readonly data. */
export * from './audit.ts';
export * from './caller.ts';
export * from './catalogue.ts';
export * from './container.ts';
export * from './container-id.ts';
export * from './errors.ts';
export * from './rate-limit.ts';
export * from './resources.ts';
export * from './result.ts';
export * from './scope.ts';
export * from './session.ts';
export * from './settings.ts';
export * from './ssh-key.ts';
export * from './terminal.ts';
export * from './token.ts';
export * from './user.ts';
