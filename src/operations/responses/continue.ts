import { nextTurn } from '../../base/async/next-turn.ts';
import { GatewayError, isGatewayError } from '../../base/errors.ts';
import { checkParsed, JsonError } from '../../base/json.ts';
import { type Issue, refusal } from '../../base/refusal.ts';
import { addAll, type Loose } from '../../base/values.ts';
import type { Caller } from '../../call/call.ts';
import type { Native } from '../../call/native.ts';
import { conversationIdOf } from '../../schema/responses/conversations.ts';
import type { ResponsesRequest } from '../../schema/responses/responses.ts';
import { type BodyCheck, checkBy } from '../../schema/schema.ts';
import type { OpenConversation, StoredConversations } from '../../telemetry/conversations/stored-conversations.ts';
import type { StoredResponses } from '../../telemetry/responses/stored-responses.ts';
import type { OperationInput } from '../operation.ts';
import { mayRead } from '../records/may-read.ts';
import type { ResponsesDeps } from './deps.ts';
import { noConversation } from './reach.ts';
import { sinceCompaction } from './since-compaction.ts';

/** The checks of a conversation, which are those of a request that holds all of it. */
export interface ConversationChecks {
  /** The schema: 400. */
  body: () => BodyCheck<ResponsesRequest>;
  /** The faults that the schema does not find: 400. */
  issues: (body: ResponsesRequest, headers: Headers) => readonly Issue[];
  /** The contradictions of a whole conversation: 422. */
  wholeContradictions: (body: ResponsesRequest) => Issue[];
}

/** A longer conversation is work for more than one turn of the event loop, in characters; as of a long body. */
const longChars = 256 * 1024;

/**
 * Puts the conversation of `previous_response_id` before the input: its input items, and the items of its output. Its
 * instructions and other fields are not carried over. Or the items of `conversation`. What a compaction stands for is left out.
 * @param checks  of the operation: the conversation is checked as if the caller had sent all of it
 * @param adds    true: the input is going to be added to the `conversation`, which must have room for it
 * @returns the input of the operation; the same, where the request names nothing that it goes on from
 * @throws GatewayError invalid_request (400) `previous_response_not_found`, the same error for a response that is
 *   unknown, deleted, expired or of somebody else; not_found (404) for such a conversation; unprocessable (422) as for a
 *   whole conversation; payload_too_large (413); unavailable (503)
 */
export async function continued(
  { responses, conversations, bounds }: Pick<ResponsesDeps, 'responses' | 'conversations' | 'bounds'>,
  checks: ConversationChecks,
  input: OperationInput<ResponsesRequest>,
  adds = false,
): Promise<OperationInput<ResponsesRequest>> {
  const { body, caller, headers } = input;
  const own = itemsOf(body.input);
  const conversationId = conversationIdOf(body);
  const previousId = body.previous_response_id ?? null;
  let items: Loose[];
  if (conversationId !== null && conversations !== null) {
    const found = await openConversation(conversations, caller, conversationId);
    if (adds) conversations.checkRoom(found, own.length, JSON.stringify(own).length);
    items = [...sinceCompaction(found.content.items.map(({ item }) => item))];
  } else if (previousId !== null && responses !== null) items = await conversationOf(responses, caller, previousId);
  else return input;
  const source = sourceOf(body);
  const before = items.length;
  addAll(items, own);
  const isLong = checkedSize(items, source, bounds) > longChars;
  if (isLong) await nextTurn();
  const whole = checkBy(checks.body(), { ...body, input: items });
  const shown = (issues: readonly Issue[]) =>
    issues.map((one) => ({ ...one, path: ownPath(one.path, before, source) }));
  if (whole.issues !== null) throw refusal('invalid_request', shown(whole.issues));
  const issues = checks.issues(whole.value, headers);
  if (issues.length > 0) throw refusal('invalid_request', shown(issues));
  const contradicted = checks.wholeContradictions(whole.value);
  if (contradicted.length > 0) throw refusal('unprocessable', shown(contradicted));
  if (isLong) await nextTurn();
  return { ...input, body: whole.value, earlierItems: before, isLong: input.isLong || isLong };
}

/** The items of an input. */
export function itemsOf(input: ResponsesRequest['input']): Loose[] {
  return typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : (input as Loose[]);
}

async function conversationOf(responses: StoredResponses, caller: Caller, id: string): Promise<Loose[]> {
  try {
    const found = await responses.find(caller.workspaceId, id);
    if (found === null || !mayRead(caller, found)) throw notFound(id);
    const { response, input } = await found.open();
    return [...sinceCompaction([...input, ...response.output])];
  } catch (error) {
    // It cannot be opened any more.
    if (isGatewayError(error) && error.kind === 'not_found') throw notFound(id);
    throw error;
  }
}

async function openConversation(
  conversations: StoredConversations,
  caller: Caller,
  id: string,
): Promise<OpenConversation> {
  // A response is of the workspace of its caller, and so is what it is added to.
  const found = await conversations.find(caller.workspaceId, id);
  if (found === null || !mayRead(caller, found)) throw noConversation(id);
  return { entry: found, content: await found.open() };
}

/** The field by which a request names what it goes on from. */
type Source = 'previous_response_id' | 'conversation';

function sourceOf(body: ResponsesRequest): Source {
  return conversationIdOf(body) === null ? 'previous_response_id' : 'conversation';
}

function notFound(id: string): GatewayError {
  const path = 'previous_response_id';
  const message = `Previous response with id '${id.slice(0, 100)}' not found; send the whole input without ${path}`;
  return new GatewayError('invalid_request', message, {
    errorType: 'previous_response_not_found',
    metadata: { issues: [{ path, message: 'names no kept response' }] },
  });
}

/**
 * Checks a conversation, which may grow over many requests, by the bounds of one that comes in one.
 * @returns its texts, in characters
 * @throws GatewayError payload_too_large (413)
 */
function checkedSize(
  items: readonly Loose[],
  source: Source,
  { depth, jsonValues, bodyBytes }: ResponsesDeps['bounds'],
): number {
  const whole = `The input with the conversation of ${source}`;
  let chars: number;
  try {
    chars = checkParsed(items, depth, jsonValues);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const metadata = { limit_values: jsonValues };
    throw new GatewayError('payload_too_large', `${whole} is ${error.message}`, { metadata });
  }
  if (chars <= bodyBytes) return chars;
  throw new GatewayError('payload_too_large', `${whole} has more than ${bodyBytes} characters`, {
    metadata: { limit_bytes: bodyBytes },
  });
}

const itemPath = /^input\[(\d+)\]/;

/** Names the place in the caller's own input of a place in the whole conversation. */
function ownPath(path: string, before: number, source: Source): string {
  return path.replace(itemPath, (_, at: string) =>
    Number(at) < before ? `${source}: item ${at}` : `input[${Number(at) - before}]`,
  );
}

/**
 * Returns the request in the caller's format, whose errors name places of the caller's own input.
 * @param before  the number of items before these
 */
export function withOwnPaths<Given extends Native | null>(
  native: Given,
  before: number,
  body: ResponsesRequest,
): Given {
  if (native === null || before === 0) return native;
  const { pathOf } = native;
  const source = sourceOf(body);
  return { ...native, pathOf: (...given: Parameters<Native['pathOf']>) => ownPath(pathOf(...given), before, source) };
}
