import type { ComponentType } from 'preact';
import { INVITE_PATH, RESET_PATH } from '../state/account-links.ts';
import { PROVIDER_PATH } from '../state/provider-return.ts';
import { AcceptPage } from './auth/links/accept-page.tsx';
import { ResetPage } from './auth/links/reset-page.tsx';
import { ProviderPage } from './auth/provider-page.tsx';
import { Register } from './auth/register.tsx';
import { Setup } from './auth/setup.tsx';
import { SignIn } from './auth/sign-in.tsx';

/** Pages for people who are not signed in. */
export const GATES: Readonly<Record<string, ComponentType>> = {
  '/sign-in': SignIn,
  '/register': Register,
  '/setup': Setup,
};

/** Pages of one-time links, and of answers of the OpenID provider, which somebody who is signed in may open, too. */
export const LINK_PAGES: Readonly<Record<string, ComponentType>> = {
  [INVITE_PATH]: AcceptPage,
  [RESET_PATH]: ResetPage,
  [PROVIDER_PATH]: ProviderPage,
};

export const isLinkPage = (path: string): boolean => Object.hasOwn(LINK_PAGES, path);

export const isGate = (path: string): boolean => Object.hasOwn(GATES, path);
