import * as z from 'zod';
import {
  type Generation,
  type GenerationFields,
  type GenerationQuery,
  generationQuery,
  generationSchema,
} from '../../schema/records/generation.ts';
import type { Records } from '../../telemetry/records/records.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { keptRecords, reachGeneration, type ShownDeps, shown } from './reach.ts';

export interface GenerationDeps {
  /** null: the operator keeps no records. */
  records: Records | null;
}

/**
 * Returns the record of one request for a completion.
 * @see interface document, "GET /generation"
 */
export function getGeneration({
  records,
  presentation,
}: GenerationDeps & ShownDeps): ApiOperation<
  'generations.get',
  GenerationFields,
  { data: Generation },
  unknown,
  GenerationQuery
> {
  return {
    name: 'getGeneration',
    api: 'generations.get',
    method: 'GET',
    path: '/generation',
    permissions: ['inference', 'management'],
    body: null,
    query: generationQuery,
    result: () => z.object({ data: generationSchema() }),
    async run({ query: { id }, caller }) {
      return jsonReply({ data: shown(await reachGeneration(keptRecords(records), caller, id), presentation) });
    },
  };
}
