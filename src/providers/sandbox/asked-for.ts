/** Finds the literal wishes in a text of the user: nothing here understands a text. */

/** The longest text that is searched. */
const maxChars = 4_000;

const verb = '\\b(?:[Rr]eply|[Rr]espond|[Aa]nswer|[Ss]ay|[Oo]utput|[Pp]rint|[Ww]rite|[Rr]eturn)';
/** Words between the verb and the text to say. */
const filler =
  '(?:\\s+(?:with|back|only|just|exactly|simply|the|a|this|one|single|literal|exact|following|text|word|words|string))*';
const forms = [
  // Reply with the literal text: alpha beta. Nothing else.
  new RegExp(`${verb}${filler}\\s*:\\s*(?<said>[^\\n]+)`, 'iu'),
  // Say "done".
  new RegExp(`${verb}${filler}\\s+(?<quote>["'\`])(?<said>[^"'\`\\n]+)\\k<quote>`, 'iu'),
  // Reply with exactly OK and nothing else. For one word alone.
  new RegExp(
    `${verb}(?:\\s+(?:with|back))?\\s+exactly\\s+(?:the\\s+word\\s+)?(?<said>[\\p{Lu}][\\p{Lu}\\p{N}_-]*)\\b`,
    'u',
  ),
];

/** The text that the user wants to hear, word for word; null: none. */
export function literalReply(text: string): string | null {
  if (text.length > maxChars) return null;
  for (const form of forms) {
    const said = form.exec(text)?.groups?.said;
    const bare = said === undefined ? '' : bareOf(said);
    if (bare !== '') return bare;
  }
  return null;
}

/** The text to say, without the words after its sentence, and without quotes around it. */
function bareOf(said: string): string {
  const [sentence = ''] = oneSpaced(said).split(/[.!?](?: |$)| ?(?:[—–-]|,|\band\b) ?nothing else/u);
  return sentence.trim().replace(/^(["'`])(.*)\1$/u, '$2');
}

/** The number after a name in a text, such as 42 in "the count value 42"; null: there is none. */
export function numberBehind(name: string, text: string): number | null {
  if (text.length > maxChars || !/^[A-Za-z]\w*$/.test(name)) return null;
  const found = new RegExp(
    `\\b${name}\\b(?:\\s+(?:value|of|is|to|at|exactly|should|be))*(?:\\s*[:=])?\\s*(-?\\d{1,15}(?:\\.\\d{1,9})?)\\b`,
    'i',
  );
  const number = found.exec(text)?.[1];
  return number === undefined ? null : Number(number);
}

/**
 * The keys of a JSON object that the text asks for: "with the keys: name (string), count (number)"; `[]`: it names
 * none.
 */
export function keysAskedFor(text: string): { key: string; type: string }[] {
  if (text.length > maxChars) return [];
  const list = /\b(?:keys|fields|properties)\s*:?\s+([^.\n]+)/i.exec(text)?.[1] ?? '';
  return oneSpaced(list)
    .split(/,| and /)
    .flatMap((part) => {
      const [, key, type = 'string'] = /^(?:and )?["'`]?([A-Za-z_]\w*)["'`]?(?: ?\((\w+)\))?$/i.exec(part.trim()) ?? [];
      return key === undefined ? [] : [{ key, type: type.toLowerCase() }];
    })
    .slice(0, 20);
}

/** Joins spaces: with several in a row, the expressions would search again from each of them. */
function oneSpaced(text: string): string {
  return text.replace(/\s+/g, ' ');
}

/** Tells whether a text asks for the tool without a name. */
export function wantsTheTool(text: string): boolean {
  return /\b(?:use|call|invoke)\s+(?:the|that|this|your)\s+(?:tool|function)\b/i.test(text.slice(0, maxChars));
}

/** Tells whether a text asks for several calls of one function. */
export function wantsSeveralCalls(text: string): boolean {
  return /\b(?:in parallel|for both|twice)\b/i.test(text.slice(0, maxChars));
}
