import { disregard } from '../../base/async/tell.ts';
import { type Issue, issueText } from '../../base/refusal.ts';
import { validationIssues } from '../../schema/chat/validate.ts';
import { answerSchema, type CheckedAnswer, type Respond, type SandboxAnswer, type ScriptRequest } from './answer.ts';

/** An answer; a text alone; or a function that makes it from the request. */
export type ScriptEntry = SandboxAnswer | string | Respond;

/** The answer of a script to one request. */
export type Taken = { kind: 'answer'; index: number; answer: CheckedAnswer } | { kind: 'none'; message: string };

/** Scripted answers, and the requests that they got. */
export interface SandboxScript {
  /** Every request, in the order of arrival; the last 10,000. */
  readonly requests: readonly ScriptRequest[];
  /** The requests for which no answer was left. */
  readonly unanswered: readonly ScriptRequest[];
  /** The number of requests that it can still answer; answers with `times: 'always'` do not count. */
  readonly remaining: number;
  /**
   * Checks the script at the end of a test.
   * @throws ScriptError where an answer was not used, or a request got none
   */
  assertDone(): void;
  /** Forgets the requests and starts again from the beginning, with other answers if there are some. */
  reset(entries?: readonly ScriptEntry[]): void;
  /** Takes the answer to a request, which then counts as used. The gateway calls this. */
  take(request: Omit<ScriptRequest, 'number'>): { request: ScriptRequest; taken: Taken };
}

/** A mistake in a script, or a script that did not run as written. */
export class ScriptError extends Error {
  /** Each mistake in the script; `path` is such as `[1].error.status`. */
  readonly issues: readonly Issue[];

  constructor(message: string, issues: readonly Issue[] = []) {
    super(message);
    this.name = 'ScriptError';
    this.issues = issues;
  }
}

/** The most requests that are kept: a script is for tests, but the process may run for long. */
const mostRequests = 10_000;

/**
 * Makes answers for your own tests, for the option `sandbox.script`. A request gets the first answer that matches it
 * and is not used up.
 * @param options.name    the name of the script in errors. Default `script`
 * @param options.repeat  true: used answers are available again, in the same order
 * @throws ScriptError naming every mistake and its place
 * @see docs/sandbox.md
 */
export function sandboxScript(
  entries: readonly ScriptEntry[],
  { name = 'script', repeat = false }: { name?: string; repeat?: boolean } = {},
): SandboxScript {
  let answers: readonly { answer: CheckedAnswer; left: number }[] = [];
  let requests: ScriptRequest[] = [];
  let unanswered: ScriptRequest[] = [];
  let asked = 0;

  const begin = (given: readonly ScriptEntry[]) => {
    answers = readEntries(given).map((answer) => ({ answer, left: timesOf(answer) }));
  };
  const rest = () => answers.reduce((sum, { left }) => sum + (left === Infinity ? 0 : left), 0);
  begin(entries);

  const next = (request: ScriptRequest): Taken => {
    const matching = answers.filter(({ answer }) => matches(answer, request));
    if (repeat && matching.every(({ left }) => left === 0)) for (const one of matching) one.left = timesOf(one.answer);
    const found = matching.find(({ left }) => left > 0);
    if (found) {
      found.left -= 1;
      return { kind: 'answer', index: answers.indexOf(found), answer: found.answer };
    }
    const left = rest();
    const what = `request ${request.number} (${request.provider}/${request.model}, ${request.stream ? 'stream' : 'JSON'})`;
    return {
      kind: 'none',
      message:
        left === 0
          ? `The sandbox script "${name}" is used up: it has no answer for ${what}. Add one, or set times or repeat.`
          : `The sandbox script "${name}" has no answer that matches ${what}. Answers left: ${left}.`,
    };
  };

  return {
    get requests() {
      return requests;
    },
    get unanswered() {
      return unanswered;
    },
    get remaining() {
      return rest();
    },
    assertDone() {
      const [left, missed] = [answers.flatMap((one, index) => (isOpen(one) ? [index] : [])), unanswered.length];
      const parts = [
        ...(left.length > 0 ? [`not all was asked for of ${left.map((index) => `[${index}]`).join(', ')}`] : []),
        ...(missed > 0 ? [`${missed} ${missed === 1 ? 'request' : 'requests'} got no answer`] : []),
      ];
      if (parts.length > 0) throw new ScriptError(`The sandbox script "${name}" is not done: ${parts.join('; ')}.`);
    },
    reset(given) {
      if (given) begin(given);
      else answers = answers.map(({ answer }) => ({ answer, left: timesOf(answer) }));
      // New lists: a test may still hold the old ones.
      [requests, unanswered, asked] = [[], [], 0];
    },
    take(seen) {
      asked += 1;
      const request: ScriptRequest = { number: asked, ...seen };
      const taken = next(request);
      keep(requests, request);
      if (taken.kind === 'none') keep(unanswered, request);
      return { request, taken };
    },
  };
}

/**
 * Reads the entries in their long form.
 * @throws ScriptError
 */
function readEntries(entries: readonly ScriptEntry[]): CheckedAnswer[] {
  if (!Array.isArray(entries))
    throw new ScriptError('sandboxScript: expected a list of answers', [
      { path: '', message: 'expected a list of answers' },
    ]);
  const issues: Issue[] = [];
  const answers = entries.flatMap((entry, index): CheckedAnswer[] => {
    const long = typeof entry === 'string' ? { text: entry } : typeof entry === 'function' ? { respond: entry } : entry;
    const parsed = answerSchema().safeParse(long);
    if (parsed.success) return [parsed.data];
    const found = validationIssues(parsed.error);
    issues.push(...found.map(({ path, message }) => ({ path: joined(`[${index}]`, path), message })));
    return [];
  });
  if (issues.length > 0) throw new ScriptError(`sandboxScript: ${issues.map(issueText).join('; ')}`, issues);
  return answers;
}

function joined(place: string, path: string): string {
  return path === '' || path.startsWith('[') ? place + path : `${place}.${path}`;
}

function timesOf({ times = 1 }: CheckedAnswer): number {
  return times === 'always' ? Infinity : times;
}

/** Tells whether an answer still waits for a request. An answer for any number of requests may have none. */
function isOpen({ left }: { left: number }): boolean {
  return left > 0 && left !== Infinity;
}

function keep(list: ScriptRequest[], request: ScriptRequest): void {
  list.push(request);
  if (list.length > mostRequests) list.shift();
}

function matches({ when }: CheckedAnswer, request: ScriptRequest): boolean {
  if (!when) return true;
  if (typeof when === 'function') {
    const fits: unknown = when(request);
    if (typeof fits !== 'object') return Boolean(fits);
    disregard(fits);
    throw new TypeError('expected it to return true or false');
  }
  const { model, lastUserMessage, stream } = when;
  const fits = (wanted: string | RegExp | undefined, test: (text: string) => boolean, texts: readonly string[]) =>
    wanted === undefined ||
    (typeof wanted === 'string' ? test(wanted) : texts.some((text) => text.search(wanted) >= 0));
  const names = [request.model, `${request.provider}/${request.model}`];
  return (
    fits(model, (text) => names.includes(text), names) &&
    fits(lastUserMessage, (text) => request.lastUserMessage.includes(text), [request.lastUserMessage]) &&
    (stream === undefined || stream === request.stream)
  );
}
