import type { GuardedConnection } from './guarded.ts';

/** Runtimes whose connections go where a name server says at that moment: nothing that was checked would hold. */
export const guardedConnection: GuardedConnection | null = null;
