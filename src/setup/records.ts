import type { Clock } from '../base/clock.ts';
import type { RecordSettings } from '../schema/settings/records.ts';
import type { Logger } from '../telemetry/record.ts';
import { createRecords, type Records } from '../telemetry/records/records.ts';
import type { Stores } from './stores.ts';

/** @returns null: the operator keeps no records */
export function openRecords(
  { recordStorage: storage, vault, spending }: Pick<Stores, 'recordStorage' | 'vault' | 'spending'>,
  { records: settings, logger = null }: { records: RecordSettings; logger?: Logger | null | undefined },
  clock: Clock,
  instance: () => string,
): Records | null {
  if (!settings.enabled) return null;
  const { bookLost, pending } = spending;
  const records = createRecords({ storage, vault, clock, logger, settings, instance, bookLost, pending });
  spending.recordLost(records.recordLost);
  return records;
}
