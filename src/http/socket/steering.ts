import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import type { Loose } from '../../base/values.ts';
import { ofConversation } from './client-frames.ts';
import type { Flight, Steer } from './lane.ts';

/** The most input that waits for the end of one response. */
const maxSteers = 100;

const parts = ['input_text', 'input_image', 'input_file'] as const;

const messageSchema = lazily(() =>
  z.strictObject({
    type: z.literal('message').optional(),
    role: z.literal('user'),
    content: z.union([z.string(), z.array(z.looseObject({ type: z.enum(parts) })).min(1)]),
    id: z.string().nullish(),
    status: z.string().nullish(),
  }),
);
const inputSchema = lazily(() => z.union([z.string().min(1), z.array(messageSchema()).min(1)]));

/** A code of the interface, and what is wrong in words. */
type SteerRefusal = readonly [string, string];

/** Returns what is wrong with a `response.steer`; null: nothing. */
export function steerFault({ type: _, previous_response_id: id, input, ...more }: Loose): SteerRefusal | null {
  const [name] = Object.keys(more);
  const fault = (message: string): SteerRefusal => ['invalid_input', message];
  if (name !== undefined)
    return fault(`${name.slice(0, 50)}: expected type, previous_response_id and input, and nothing else`);
  if (typeof id !== 'string') return fault('previous_response_id: expected the id of the response that is being made');
  if (inputSchema().safeParse(input).success) return null;
  return fault(`input: expected a text, or messages of the role user whose content is ${parts.join(', ')}`);
}

/** Returns why nothing can be added now; null: it can. @param isKept  the response is complete, and can be gone on from; `hasRoom`: no more waits than may */
export function steerRefusal(flight: Flight | null, isKept: boolean, hasRoom: boolean): SteerRefusal | null {
  if (flight === null && isKept)
    return ['response_already_completed', 'The response is complete; send the input with response.create'];
  if (flight === null) return ['response_not_found', 'No such response is being made on this connection'];
  if (flight.hasEnded) return ['response_not_active', 'The response has ended'];
  if (ofConversation(flight.turn.body))
    return [
      'steering_not_supported',
      'The response is of a conversation; send the input with response.create after it',
    ];
  if (!hasRoom) return ['too_many_pending_steers', 'Too much waits on this connection; wait for a response'];
  if (flight.steers.length < maxSteers) return null;
  return ['too_many_pending_steers', `At most ${maxSteers} inputs wait for the end of one response`];
}

/** The input as items. */
export function inputItems(input: unknown): unknown[] {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }];
  return Array.isArray(input) ? input : [];
}

/** Calls that the client has to respond to, with the type of what it has to send. */
const outputs: Readonly<Record<string, string>> = {
  function_call: 'function_call_output',
  custom_tool_call: 'custom_tool_call_output',
  computer_call: 'computer_call_output',
  local_shell_call: 'local_shell_call_output',
  shell_call: 'shell_call_output',
  apply_patch_call: 'apply_patch_call_output',
};

/** Returns what a response waits for, without the results: the client adds them. */
export function requiredInput(output: readonly unknown[]): Loose[] {
  return output.flatMap((item): Loose[] => {
    const { type, call_id, name, id } = item as Loose;
    if (type === 'mcp_approval_request') return [{ type: 'mcp_approval_response', approval_request_id: id }];
    const wanted = typeof type === 'string' ? outputs[type] : undefined;
    if (wanted === undefined) return [];
    return [{ type: wanted, call_id, ...(type === 'function_call' ? { name } : {}) }];
  });
}

/** Returns the id of a call for which an item is the output; null: the item is no output of a call. */
export function answeredCall(item: unknown): string | null {
  const { type, call_id: id } = (item ?? {}) as Loose;
  return typeof type === 'string' && type.endsWith('_call_output') && typeof id === 'string' ? id : null;
}

export function steerEvent(kind: 'accepted' | 'pending', { id, responseId }: Steer, more: Loose = {}): Loose {
  return { type: `response.steer.${kind}`, steer: { id, previous_response_id: responseId }, ...more };
}

/** @param code  of the interface, such as `response_not_found` */
export function steerFailed(
  code: string,
  message: string,
  steer: { id?: string; responseId: unknown; input: unknown },
) {
  return {
    type: 'response.steer.failed',
    error: { type: 'invalid_request_error', code, message },
    steer: {
      ...(steer.id === undefined ? {} : { id: steer.id }),
      previous_response_id: typeof steer.responseId === 'string' ? steer.responseId : '',
      input: steer.input ?? '',
    },
  };
}
