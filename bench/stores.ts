import process from 'node:process';

export type StoreName = 'memory' | 'sqlite' | 'redis' | 'postgres';

/** Titles in the results, in this order. */
export const storeTitles: Record<StoreName, string> = {
  memory: 'memory',
  sqlite: 'SQLite',
  redis: 'Redis',
  postgres: 'PostgreSQL',
};

/** Where a store keeps the data of a run: a separate place on a server that may be shared. */
export type Place =
  | { kind: 'memory' }
  | { kind: 'sqlite'; path: string }
  | { kind: 'redis'; url: string; namespace: string }
  | { kind: 'postgres'; url: string; schema: string };

/** Reads the place that the parent passed to this process as an argument. */
export function placeFrom(argument: string | undefined): Place {
  if (argument === undefined) throw new Error(`${process.argv[1]} is started by the bench`);
  return JSON.parse(argument) as Place;
}
