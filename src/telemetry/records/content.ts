import { tryParseJson } from '../../base/json.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import { type GenerationContent, generationContentSchema } from '../../schema/generation-content.ts';
import { damagedRecord } from '../../stores/damaged.ts';
import type { Address, Storage } from '../../stores/storage/storage.ts';
import type { CallContent } from '../follow.ts';

const kind = 'generation-content';

/** The prompt and the response of a request are beside its record, and go with it. */
export function contentAt(workspaceId: WorkspaceId, id: string): Address {
  return { partition: workspaceId, kind, id };
}

/** As it is stored. What is longer than `maxChars` is left out, and the content says so. */
export function contentText({ messages, completion, reasoning, toolCalls }: CallContent, maxChars: number): string {
  const input = JSON.stringify(messages);
  const output: GenerationContent['output'] = { completion, reasoning, tool_calls: [...toolCalls] };
  const outputText = JSON.stringify(output);
  const isOutputTooLong = outputText.length > maxChars;
  const isInputTooLong = input.length > maxChars - (isOutputTooLong ? 0 : outputText.length);
  const nothing = '{"completion":null,"reasoning":null,"tool_calls":[]}';
  return `{"input":{"messages":${isInputTooLong ? '[]' : input}},"output":${
    isOutputTooLong ? nothing : outputText
  },"is_truncated":${isInputTooLong || isOutputTooLong}}`;
}

/** @returns null: none was kept. @throws GatewayError unavailable (503); internal (500) for a damaged one */
export async function readContent(
  storage: Storage,
  workspaceId: WorkspaceId,
  id: string,
): Promise<GenerationContent | null> {
  const text = await storage.get(contentAt(workspaceId, id));
  if (text === null) return null;
  const parsed = generationContentSchema().safeParse(tryParseJson(text));
  if (!parsed.success) throw damagedRecord(kind);
  return parsed.data;
}
