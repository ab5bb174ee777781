import { accessSync, constants } from 'node:fs';
import { homedir, userInfo } from 'node:os';

/** Of the agent's own environment only this reaches shells and commands: never its token or its service's settings. */
const INHERITED = /^(PATH|LANG|LANGUAGE|LC_[A-Z]+|TZ|XDG_RUNTIME_DIR|DBUS_SESSION_BUS_ADDRESS)$/;
const USUAL_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** Logins that no shell belongs to. */
const NO_SHELL = /(^|\/)(nologin|false|sync|shutdown|halt)$/;
const SHELLS = ['/bin/bash', '/bin/sh'];

export type HostUser = { readonly name: string; readonly home: string; readonly shell: string };

/** The user who runs the agent, with whose rights everything is done. */
export function hostUser(): HostUser {
  const { username, shell } = userInfo();
  const usual = [shell ?? '', ...SHELLS].find(
    (file) => file !== '' && !NO_SHELL.test(file) && isProgram(file),
  );
  return { name: username, home: homedir(), shell: usual ?? '/bin/sh' };
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The environment of a program of this user, as after a sign-in; `more` wins. */
export function userEnvironment(
  { name, home, shell }: HostUser,
  more: Readonly<Record<string, string>>,
): Record<string, string> {
  const inherited = Object.entries(process.env).filter(([key]) => INHERITED.test(key));
  return {
    PATH: USUAL_PATH,
    ...(Object.fromEntries(inherited) as Record<string, string>),
    HOME: home,
    USER: name,
    LOGNAME: name,
    SHELL: shell,
    ...more,
  };
}
