import process from 'node:process';

// The processes that tests start load this module first; see child-flags.ts. A process that has lost its parent ends, so
// a killed test leaves no orphans. A process that disconnects by itself has the same time to end of its own accord.

const graceMs = 1_000;

process.once('disconnect', () => {
  setTimeout(() => process.exit(1), graceMs).unref();
});
