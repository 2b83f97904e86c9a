import { keepDigits } from '../../base/exact-json.ts';
import { lazily } from '../../base/lazily.ts';
import type { Issue } from '../../base/refusal.ts';
import { checkWithPlugins } from '../../schema/chat/plugin-check.ts';
import { checkWithBounds } from '../../schema/chat/request-bounds.ts';
import { gatewayFieldNames } from '../../schema/gateway-shape.ts';
import { geminiIssues } from '../../schema/gemini/issues.ts';
import { withLists } from '../../schema/gemini/lists.ts';
import type { GeminiRequest } from '../../schema/gemini/request.ts';
import { geminiRequestCheck } from '../../schema/request-checks.ts';
import type { BodyCheck } from '../../schema/schema.ts';
import { asWritten } from '../chat/as-written.ts';
import { withHeaderIssues } from '../chat/call-of.ts';
import type { GeminiDeps } from './call-of.ts';

/** The checks that all operations with a body of the Gemini wire share. */
export interface GeminiChecks {
  /** The schema: 400. */
  body: () => BodyCheck<GeminiRequest>;
  /** The faults that the schema does not find: 400. */
  issues: (body: GeminiRequest, headers: Headers) => readonly Issue[];
  /** The arguments of calls, and their results, keep the digits of their numbers. */
  keepDigits: (body: unknown, text: string) => void;
}

const argumentFields: ReadonlySet<string> = new Set(['args', 'response']);

export function geminiChecks({ pipeline, bounds }: Pick<GeminiDeps, 'pipeline' | 'bounds'>): GeminiChecks {
  const check = lazily(() =>
    asWritten(checkWithBounds(checkWithPlugins(geminiRequestCheck, pipeline.plugins), bounds), gatewayFieldNames),
  );
  return {
    body() {
      const own = check()();
      return { safeParse: (value) => own.safeParse(withLists(value)) };
    },
    issues: (body, headers) => withHeaderIssues(geminiIssues(body), headers),
    keepDigits: (body, text) => keepDigits(body, text, argumentFields),
  };
}
