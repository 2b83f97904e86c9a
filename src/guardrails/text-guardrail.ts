import { andThen } from '../base/and-then.ts';
import { GatewayError, isGatewayError } from '../base/errors.ts';
import { refusal } from '../base/refusal.ts';
import type { Call, Caller } from '../call/call.ts';
import { originOf } from '../call/responses-origin.ts';
import type { ChatRequest } from '../schema/chat.ts';
import type { PipelineStage } from '../schema/envelope.ts';
import { blockedBy, defineGuardrail, type Guardrail } from './guardrail.ts';
import { Findings } from './text/findings.ts';
import {
  type CompiledPatterns,
  compilePatterns,
  patternFaults,
  type TextPattern,
  WrongPattern,
} from './text/patterns.ts';
import { RequestTexts } from './text/request.ts';
import { responseStep } from './text/response.ts';
import { Texts } from './text/texts.ts';

/** What `textGuardrail` takes. */
export interface TextGuardrailOptions {
  /** Shown as `guardrail_id`; unique. */
  id: string;
  /** Shown as the name of its stages. Default: the id. */
  name?: string;
  /** Shown as `guardrail_scope`, such as `workspace`. Default `gateway`. */
  scope?: string;
  /** What is looked for. */
  patterns: readonly TextPattern[];
  /** Whether it acts on a call. Default: on every call. */
  appliesTo?(caller: Caller): boolean;
  /** The most characters of a request that are looked at; more are refused (400). Default 2,000,000. */
  maxChars?: number;
}

/** The limits, where the host app sets none. */
export const textGuardrailDefaults = { scope: 'gateway', maxChars: 2_000_000 } as const;

/**
 * Blocks, redacts or flags patterns in requests and responses, streams too.
 * @throws GatewayError invalid_request (400) naming every pattern that cannot be. What only the engine of regular
 *         expressions finds shows at the first request, which fails like all that follow
 * @see docs/guardrails.md
 */
export function textGuardrail(options: TextGuardrailOptions): Guardrail {
  const { id, patterns, appliesTo, maxChars = textGuardrailDefaults.maxChars } = options;
  const issues = patternFaults(patterns, 'patterns');
  if (issues.length > 0) throw refusal('invalid_request', issues);
  let compiling: CompiledPatterns | Promise<CompiledPatterns> | null = null;
  let compiled: CompiledPatterns | null = null;
  const compile = () => {
    compiling ??= compilePatterns(patterns);
    return andThen(compiling, (made) => {
      compiled = made;
      return made;
    });
  };
  /** What was looked at before, by the call. */
  const screened = new WeakMap<Call, RequestTexts>();
  const { name = id, scope = textGuardrailDefaults.scope } = options;

  function stagesOf(findings: Findings): PipelineStage[] {
    return findings.stages(id, name, scope);
  }

  function screen(request: ChatRequest, texts: Texts, seen: RequestTexts): ChatRequest {
    const left = seen.screen(request, texts);
    if (texts.chars > maxChars)
      throw new GatewayError(
        'invalid_request',
        `The request has more than ${maxChars} characters, which are not checked`,
      );
    return left;
  }

  const guardrail: Guardrail = defineGuardrail({
    id,
    name,
    scope,
    ...(appliesTo ? { appliesTo: (caller: Caller) => appliesTo(caller) } : {}),
    async before(request, context) {
      const { input } = await ready(compile);
      if (input.acting.length === 0 && input.flagging.length === 0) return request;
      const findings = new Findings('input');
      const texts = new Texts(input, findings);
      const seen = new RequestTexts();
      const left = screen(request, texts, seen);
      for (const stage of stagesOf(findings)) context.addStage(stage);
      if (findings.blocked.length > 0) throw blockedBy(guardrail, findings.blocked, context, 'input');
      screened.set(context.call, seen);
      return left;
    },
    /** What plugins and server tools have put in since. */
    prepare(request, _target, context) {
      const seen = screened.get(context.call);
      if (seen === undefined || compiled === null) return request;
      const findings = new Findings('input');
      const left = screen(request, new Texts(compiled.input, findings), seen);
      for (const stage of stagesOf(findings)) context.addStage(stage);
      if (findings.blocked.length > 0) throw blockedBy(guardrail, findings.blocked, context, 'input');
      return left;
    },
    steps(context) {
      if (compiled === null) throw new Error(`The guardrail ${id} is not ready`);
      const patterns = compiled.output;
      if (patterns.acting.length === 0 && patterns.flagging.length === 0) return [];
      const findings = new Findings('output');
      return [
        responseStep({
          patterns,
          findings,
          hasItems: originOf(context.call.request) !== null,
          blocked: (names) => blockedBy(guardrail, names, context, 'output'),
          ended: () => {
            for (const stage of stagesOf(findings)) context.addStage(stage);
          },
        }),
      ];
    },
    async preview(request) {
      const { input } = await ready(compile);
      const findings = new Findings('input');
      const stages: PipelineStage[] = [];
      const left = screen(request, new Texts(input, findings), new RequestTexts());
      stages.push(...stagesOf(findings));
      const { blocked } = findings;
      const addStage = (stage: PipelineStage) => void stages.push(stage);
      const refused = blocked.length > 0 ? blockedBy(guardrail, blocked, { addStage }, 'input') : null;
      return { request: left, stages, refusal: refused };
    },
  });
  return guardrail;
}

/** @throws GatewayError internal (500): a guardrail that cannot look lets nothing pass */
async function ready(compile: () => CompiledPatterns | Promise<CompiledPatterns>): Promise<CompiledPatterns> {
  try {
    return await compile();
  } catch (error) {
    if (isGatewayError(error)) throw error;
    const at = error instanceof WrongPattern ? `patterns[${error.index}].regex: ${error.message}` : error;
    throw new GatewayError('internal', 'Something went wrong inside the gateway', {
      cause: typeof at === 'string' ? new Error(at) : at,
    });
  }
}
