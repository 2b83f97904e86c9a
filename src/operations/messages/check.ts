import { keepDigits } from '../../base/exact-json.ts';
import { lazily } from '../../base/lazily.ts';
import type { Issue } from '../../base/refusal.ts';
import { isObject, type Loose } from '../../base/values.ts';
import { checkWithPlugins } from '../../schema/chat/plugin-check.ts';
import { checkWithBounds } from '../../schema/chat/request-bounds.ts';
import { gatewayFieldNames } from '../../schema/gateway-shape.ts';
import { messagesIssues } from '../../schema/messages/issues.ts';
import type { MessagesRequest } from '../../schema/messages/request.ts';
import { messagesRequestCheck } from '../../schema/request-checks.ts';
import type { BodyCheck } from '../../schema/schema.ts';
import { asWritten } from '../chat/as-written.ts';
import { withHeaderIssues } from '../chat/call-of.ts';
import type { MessagesDeps } from './call-of.ts';

/** The checks that all operations with a Messages body share. */
export interface MessagesChecks {
  /** The schema: 400. */
  body: () => BodyCheck<MessagesRequest>;
  /** The faults that the schema does not find: 400. */
  issues: (body: MessagesRequest, headers: Headers) => readonly Issue[];
  /** The arguments of calls keep the digits of their numbers. */
  keepDigits: (body: unknown, text: string) => void;
}

const argumentFields: ReadonlySet<string> = new Set(['input']);

export function messagesChecks({ pipeline, bounds }: Pick<MessagesDeps, 'pipeline' | 'bounds'>): MessagesChecks {
  const check = lazily(() =>
    asWritten(
      checkWithBounds(checkWithPlugins(messagesRequestCheck, pipeline.plugins), bounds),
      gatewayFieldNames,
      withoutNullTime,
    ),
  );
  return {
    body: () => check()(),
    issues: (body, headers) => withHeaderIssues(messagesIssues(body), headers),
    keepDigits: (body, text) => keepDigits(body, text, argumentFields, ({ type }) => type === 'tool_use'),
  };
}

/** Null means that the time is not set, and upstreams refuse it. */
function withoutNullTime(body: Loose, checked: MessagesRequest): void {
  if (isObject(body.cache_control) && body.cache_control.ttl === null) body.cache_control = checked.cache_control;
}
