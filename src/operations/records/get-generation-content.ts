import * as z from 'zod';
import { GatewayError } from '../../base/errors.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import { type GenerationFields, type GenerationQuery, generationQuery } from '../../schema/records/generation.ts';
import { type GenerationContent, generationContentSchema } from '../../schema/records/generation-content.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import type { GenerationDeps } from './get-generation.ts';
import { keptRecords, reachGeneration } from './reach.ts';

/**
 * The prompt and the response of one request, where its workspace keeps them.
 * @see interface document, "GET /generation/content"
 */
export function getGenerationContent({
  records,
}: GenerationDeps): ApiOperation<
  'generations.content',
  GenerationFields,
  { data: GenerationContent },
  unknown,
  GenerationQuery
> {
  return {
    name: 'listGenerationContent',
    api: 'generations.content',
    method: 'GET',
    path: '/generation/content',
    permissions: ['inference', 'management'],
    body: null,
    query: generationQuery,
    result: () => z.object({ data: generationContentSchema() }),
    async run({ query: { id }, caller }) {
      const kept = keptRecords(records);
      const { workspace_id: owner } = await reachGeneration(kept, caller, id);
      const content = await kept.content(owner as WorkspaceId, id);
      if (content !== null) return jsonReply({ data: content });
      throw new GatewayError(
        'not_found',
        'The prompt and the response of this request were not kept: see is_observability_io_logging_enabled of the workspace',
      );
    },
  };
}
