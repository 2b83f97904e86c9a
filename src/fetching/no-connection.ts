import type { GuardedConnection } from './guarded.ts';

/** null: in this runtime a connection looks up the name again, so a check of addresses would not hold. */
export const guardedConnection: GuardedConnection | null = null;
