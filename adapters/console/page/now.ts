import { signal } from '@preact/signals';

/** The present minute, epoch ms: what is shown moves on with it. */
export const now = signal(Date.now());

setInterval(() => {
  if (!document.hidden && Date.now() - now.value >= 60_000) now.value = Date.now();
}, 5_000);
