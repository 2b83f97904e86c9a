import { type CandidatePattern, isDigit, isWordAt } from '../matching/candidate.ts';
import { passesLuhn, passesMod11And10, passesVerhoeff, remainder, weighted } from './check-digits.ts';

interface NationalId {
  /**
   * The possible numbers of digits, or of letters, at its beginning before another character: few texts begin like one.
   */
  readonly digits?: readonly number[];
  readonly letters?: readonly number[];
  /** The complete form of the id. */
  readonly form: RegExp;
  /** Tells whether its check digits are right, by its letters and digits alone. */
  readonly isValid: (plain: string) => boolean;
}

const spanishLetters = 'TRWAGMYFPDXBNJZSQVHLCKE';

/** National ids by name, with their check digits if they have some. */
const nationalIds: Readonly<Record<string, NationalId>> = {
  'us-ssn': {
    digits: [3],
    form: /^(?!000|666|9)\d{3}([- ])(?!00)\d{2}\1(?!0000)\d{4}/,
    isValid: (plain) => plain !== '078051120' && plain !== '123456789',
  },
  'ca-sin': { digits: [3], form: /^[1-9]\d{2}([- ])\d{3}\1\d{3}/, isValid: passesLuhn },
  'uk-nino': {
    letters: [2],
    form: /^(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]/i,
    isValid: () => true,
  },
  'fr-nir': {
    digits: [1, 3, 5, 6, 7, 10, 13, 15],
    form: /^[12] ?\d{2} ?(?:0[1-9]|1[0-2]|[2-9]\d) ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}/i,
    isValid(plain) {
      const number = plain.slice(0, 13).toUpperCase().replace('2A', '19').replace('2B', '18');
      return 97 - remainder(number, 97) === Number(plain.slice(13));
    },
  },
  'de-steuer-id': {
    digits: [2, 5, 8, 11],
    form: /^[1-9]\d ?\d{3} ?\d{3} ?\d{3}/,
    // One digit occurs twice or three times among the first ten.
    isValid: (plain) =>
      passesMod11And10(plain) && [8, 9].includes(new Set(plain.slice(0, 10)).size) && !/(\d)\1\1/.test(plain),
  },
  'es-dni': {
    digits: [8],
    letters: [1],
    form: /^(?:[XYZ]-?\d{7}|\d{8})-?[A-HJ-NP-TV-Z]/i,
    isValid(plain) {
      const upper = plain.toUpperCase();
      const number = Number(upper.slice(0, -1).replace(/^[XYZ]/, (letter) => String('XYZ'.indexOf(letter))));
      return spanishLetters[number % 23] === upper.at(-1);
    },
  },
  'it-codice-fiscale': {
    letters: [6],
    form: /^[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]/i,
    isValid: (plain) => italianCheck(plain.slice(0, 15).toUpperCase()) === plain.at(-1)?.toUpperCase(),
  },
  'br-cpf': {
    digits: [3],
    form: /^\d{3}\.\d{3}\.\d{3}-\d{2}/,
    isValid(plain) {
      const check = (count: number) => {
        const weights = Array.from({ length: count }, (_, at) => count + 1 - at);
        return ((weighted(plain, weights) * 10) % 11) % 10;
      };
      return !/^(\d)\1+$/.test(plain) && check(9) === Number(plain[9]) && check(10) === Number(plain[10]);
    },
  },
  'in-aadhaar': { digits: [4], form: /^[2-9]\d{3}([- ])\d{4}\1\d{4}/, isValid: passesVerhoeff },
  'se-personnummer': {
    digits: [6, 8],
    form: /^(?:19|20)?\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])[-+]\d{4}/,
    isValid: (plain) => passesLuhn(plain.slice(-10)),
  },
  'pl-pesel': {
    digits: [11],
    form: /^\d{2}(?:[02468][1-9]|[13579][0-2])(?:0[1-9]|[12]\d|3[01])\d{5}/,
    isValid: (plain) => (10 - (weighted(plain, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3]) % 10)) % 10 === Number(plain[10]),
  },
  'cn-resident-id': {
    digits: [17, 18],
    form: /^[1-9]\d{5}(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dX]/i,
    isValid(plain) {
      const sum = weighted(plain, [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]);
      return '10X98765432'[sum % 11] === plain.at(-1)?.toUpperCase();
    },
  },
};

const odd: readonly number[] = [
  1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23,
];

function italianCheck(plain: string): string {
  let sum = 0;
  for (const [at, char] of Array.from(plain).entries()) {
    const value = Number.parseInt(char, 36);
    const place = value > 9 ? value - 10 : value;
    sum += at % 2 === 0 ? (odd[place] as number) : place;
  }
  return String.fromCharCode(65 + (sum % 26));
}

function patternOf(
  ids: readonly NationalId[],
  part: Pick<CandidatePattern, 'part' | 'lead' | 'partChars'>,
): CandidatePattern {
  const beginnings = { digits: byLength(ids, 'digits'), letters: byLength(ids, 'letters') };
  return {
    candidate:
      /(?<![A-Za-z0-9])(?:\d(?:[ .+-]?\d|[ABab]){0,21}[ .+-]?[A-Za-z]?|[A-Za-z]{1,6}(?:[ -]?(?:\d(?:[ -]?\d|[A-Za-z]\d){0,14}[ -]?[A-Za-z]?)?)?)/g,
    ...part,
    judge(text, start, end) {
      const kind = isDigit(text.charCodeAt(start)) ? 'digits' : 'letters';
      let at = start + 1;
      while (at < end && isWordAt(text, at) && isDigit(text.charCodeAt(at)) === (kind === 'digits')) at++;
      const some = beginnings[kind][at - start];
      if (some === undefined) return -1;
      const written = text.slice(start, end);
      for (const { form, isValid } of some) {
        const [found] = form.exec(written) ?? [];
        if (found === undefined || isWordAt(text, start + found.length)) continue;
        if (isValid(found.replace(/[^A-Za-z0-9]/g, ''))) return start + found.length;
      }
      return -1;
    },
  };
}

/** The ids that begin with so many digits or letters. */
function byLength(
  ids: readonly NationalId[],
  kind: 'digits' | 'letters',
): readonly (readonly NationalId[] | undefined)[] {
  const found: NationalId[][] = [];
  for (const id of ids)
    for (const length of id[kind] ?? []) {
      found[length] ??= [];
      found[length].push(id);
    }
  return found;
}

/** The number of US Social Security, in groups. */
export const usSsn = patternOf([nationalIds['us-ssn'] as NationalId], { part: /\d{3}/g, lead: 0, partChars: 3 });
/** National ids of twelve countries. */
export const nationalId = patternOf(Object.values(nationalIds), { part: /\d\d/g, lead: 6, partChars: 2 });
