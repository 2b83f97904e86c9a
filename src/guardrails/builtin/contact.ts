import { type CandidatePattern, isWordAt } from '../matching/candidate.ts';

const localPart = "[A-Za-z0-9À-ɏ._%+'-]";
const domain = /^[A-Za-z0-9À-ɏ](?:[A-Za-z0-9À-ɏ-]{0,62})(?:\.[A-Za-z0-9À-ɏ][A-Za-z0-9À-ɏ-]{0,62}){1,8}/;

/** An e-mail address: at most 64 characters, `@`, and a domain of at most 190. */
export const email: CandidatePattern = {
  candidate: new RegExp(`(?<!${localPart})${localPart}{1,64}(?:@[A-Za-z0-9À-ɏ.-]{0,190})?`, 'g'),
  part: /@/g,
  lead: 64,
  partChars: 1,
  judge(text, start, end) {
    const written = text.slice(start, end);
    const at = written.indexOf('@');
    if (at === -1 || !written.includes('.', at)) return -1;
    const [found] = domain.exec(written.slice(at + 1)) ?? [];
    if (found === undefined) return -1;
    const trimmed = withoutEndHyphens(found);
    return /\.[A-Za-zÀ-ɏ][A-Za-z0-9À-ɏ-]+$/.test(trimmed) ? start + at + 1 + trimmed.length : -1;
  },
};

function withoutEndHyphens(text: string): string {
  let end = text.length;
  while (text[end - 1] === '-') end--;
  return text.slice(0, end);
}

/** North America, without the digits of the country: 415-555-0132, (415) 555-0132, 1-415-555-0132. */
const northAmerican = /^(?:1[ .-]?)?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[ .-])[2-9]\d{2}[ .-]\d{4}/;
/** Elsewhere, with the zero of long distance: 030 1234567, 089/12345678, 020 7946 0958. */
const longDistance = /^\(?0\d{2,4}\)?[ /-]\d{2,4}(?:[ -]?\d{2,4}){1,3}/;
/** France: 01 23 45 67 89. */
const french = /^0[1-9](?:[ .]\d{2}){4}/;
const international = /^\+\d{1,3}(?:[ .-]?\(?\d{1,4}\)?){2,6}/;

/** The forms of numbers by their first character. */
function formsOf(first: string): readonly RegExp[] {
  if (first === '+') return [international];
  if (first === '0') return [longDistance, french];
  return first === '(' ? [northAmerican, longDistance] : [northAmerican];
}

/** A telephone number: with `+` and the country, or as people write it within a country. Bare digits do not count. */
export const phone: CandidatePattern = {
  candidate: /(?<![\w+])(?:\+|\(|\d)[\d ()./-]{0,24}/g,
  part: /\d\d/g,
  lead: 24,
  partChars: 2,
  judge(text, start, end) {
    const written = text.slice(start, end);
    for (const form of formsOf(written.charAt(0))) {
      const [found] = form.exec(written) ?? [];
      if (found === undefined) continue;
      const digits = found.replace(/\D/g, '').length;
      const least = written.startsWith('+') ? 8 : 9;
      if (digits >= least && digits <= 15 && !isWordAt(text, start + found.length)) return start + found.length;
    }
    return -1;
  },
};
