// The colours that this browser has chosen for Berth. Without storage they are the system's.
try {
  const theme = localStorage.getItem('berth.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {}
