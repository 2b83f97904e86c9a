import type { Clock } from '../base/clock.ts';
import type { RecordSettings } from '../schema/record-settings.ts';
import type { Logger } from '../telemetry/record.ts';
import { createRecords, type Records } from '../telemetry/records/records.ts';
import type { Stores } from './stores.ts';

/** @returns null: the operator keeps no records */
export function openRecords(
  { recordStorage: storage, vault }: Pick<Stores, 'recordStorage' | 'vault'>,
  { records: settings, logger = null }: { records: RecordSettings; logger?: Logger | null | undefined },
  clock: Clock,
  instance: () => string,
): Records | null {
  return settings.enabled ? createRecords({ storage, vault, clock, logger, settings, instance }) : null;
}

/** Makes names of instances. Not of `ids`, which may be made to count: two would have one name, and not hear each other. */
export function instanceNames(randomBytes: (size: number) => Uint8Array): () => string {
  return () => randomBytes(16).reduce((hex, byte) => hex + byte.toString(16).padStart(2, '0'), '');
}
