import type { ComponentType } from 'preact';
import { Register } from './auth/register.tsx';
import { Setup } from './auth/setup.tsx';
import { SignIn } from './auth/sign-in.tsx';

/** Pages for people who are not signed in. */
export const GATES: Readonly<Record<string, ComponentType>> = {
  '/sign-in': SignIn,
  '/register': Register,
  '/setup': Setup,
};

export const isGate = (path: string): boolean => Object.hasOwn(GATES, path);
