import * as z from 'zod';
import { tryParseJson } from '../../base/json.ts';
import { lazily } from '../../base/lazily.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import { type GenerationContent, generationContentSchema } from '../../schema/records/generation-content.ts';
import { sealedSchema } from '../../schema/tenants/credential.ts';
import { damagedRecord } from '../../stores/damaged.ts';
import { unlessDeleted } from '../../stores/deletion.ts';
import type { Address, Storage } from '../../stores/storage/storage.ts';
import type { Vault } from '../../stores/vault/index.ts';
import type { CallContent } from '../follow.ts';
import { openedOr } from '../opening.ts';

const unreadable =
  'The prompt and the response of this request cannot be read: they were sealed with a secret that is not configured any more, or were altered';

const kind = 'generation-content';

/** The address of the prompt and the response of a request. They are beside its record, and are removed with it. */
export function contentAt(workspaceId: WorkspaceId, id: string): Address {
  return { partition: workspaceId, kind, id };
}

/** The stored text. A part that is longer than `maxChars` is left out, and the content says so. */
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

/** The part of the vault that seals and opens stored contents. */
export type ContentVault = Pick<Vault, 'isOpen' | 'seal' | 'open'>;

/**
 * Stores a content, sealed where there is a master key.
 * @throws GatewayError unavailable (503): the store or the key service is out of reach
 */
export async function writeContent(
  { storage, vault }: { storage: Storage; vault: ContentVault },
  workspaceId: WorkspaceId,
  id: string,
  text: string,
): Promise<void> {
  const owner = { workspaceId, generationId: id };
  const value = vault.isOpen ? JSON.stringify({ sealed: await vault.seal(text, owner) }) : text;
  await storage.commit([{ at: contentAt(workspaceId, id), value }, unlessDeleted(workspaceId)]);
}

const sealedContentSchema = lazily(() => z.strictObject({ sealed: sealedSchema() }));

/**
 * @returns null: no content was kept
 * @throws GatewayError unavailable (503); not_found (404): the secret that sealed it is not configured any more;
 * internal
 *         (500) for a damaged content
 */
export async function readContent(
  { storage, vault }: { storage: Storage; vault: ContentVault },
  workspaceId: WorkspaceId,
  id: string,
): Promise<GenerationContent | null> {
  const text = await storage.get(contentAt(workspaceId, id));
  if (text === null) return null;
  const stored = tryParseJson(text);
  const { data } = sealedContentSchema().safeParse(stored);
  const clear = data
    ? tryParseJson(await openedOr(unreadable, () => vault.open(data.sealed, { workspaceId, generationId: id })))
    : stored;
  const content = generationContentSchema().safeParse(clear);
  if (!content.success) throw damagedRecord(kind);
  return content.data;
}
