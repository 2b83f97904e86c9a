import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { damagedRecord } from '../damaged.ts';
import type { Address } from '../storage/storage.ts';

/**
 * The counters of a workspace's credentials. Each new credential changes them, and expects them as they were read. So
 * no two credentials get the same number, and none slips in between the count and the write.
 */
const orderSchema = lazily(() =>
  z.strictObject({
    /** The number of credentials that were ever made: the rank of the next one. */
    made: z.int().nonnegative(),
    /** By provider: the `sort_order` of the next one. */
    next: z.record(z.string(), z.int().nonnegative()),
  }),
);
interface Order extends z.infer<ReturnType<typeof orderSchema>> {}

const kind = 'credential-order';

export function orderAt(workspaceId: string): Address {
  return { partition: workspaceId, kind, id: 'order' };
}

/** @param text  as stored; null: there is none yet */
export function takeNumber(text: string | null, provider: string): { rank: number; sortOrder: number; after: string } {
  const { made, next } = text === null ? { made: 0, next: {} } : readOrder(text);
  const sortOrder = next[provider] ?? 0;
  const after: Order = { made: made + 1, next: { ...next, [provider]: sortOrder + 1 } };
  return { rank: made, sortOrder, after: JSON.stringify(after) };
}

function readOrder(text: string): Order {
  try {
    return orderSchema().parse(JSON.parse(text));
  } catch {
    throw damagedRecord(kind);
  }
}
