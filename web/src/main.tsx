import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/overlays.css';
import './styles/shell.css';
import './styles/auth.css';
import './styles/containers.css';
import './styles/terminal.css';
import { render } from 'preact';
import { startClock } from './lib/clock.ts';
import { startPreferences } from './lib/preferences.ts';
import { startRouter } from './lib/router.ts';
import { restore, startRenewing } from './session/session.ts';
import { App } from './views/app.tsx';

startPreferences();
startRouter();
startClock();
startRenewing();
void restore();

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
