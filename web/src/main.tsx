import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/fields.css';
import './styles/overlays.css';
import './styles/toasts.css';
import './styles/shell.css';
import './styles/auth.css';
import './styles/containers.css';
import './styles/list-states.css';
import './styles/status.css';
import './styles/create-dialog.css';
import './styles/terminal.css';
import './styles/terminal-overlays.css';
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
