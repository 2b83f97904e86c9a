/** Checks digits by Luhn: card numbers, and numbers of persons in Canada and Sweden. */
export function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = digitAt(digits, digits.length - 1 - at);
    const doubled = at % 2 === 0 ? digit : digit * 2;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** The remainder of a number of any length. Letters count from 10, as in an IBAN. */
export function remainder(text: string, modulus: number): number {
  let rest = 0;
  for (const char of text) {
    const value = Number.parseInt(char, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % modulus;
  }
  return rest;
}

/** The sum of the digits, each times its weight. */
export function weighted(digits: string, weights: readonly number[]): number {
  return weights.reduce((sum, weight, at) => sum + weight * digitAt(digits, at), 0);
}

/** Checks digits by ISO 7064 MOD 11,10: the tax id of Germany. */
export function passesMod11And10(digits: string): boolean {
  let product = 10;
  for (let at = 0; at < digits.length - 1; at++) {
    const sum = (digitAt(digits, at) + product) % 10 || 10;
    product = (sum * 2) % 11;
  }
  return (11 - product) % 10 === digitAt(digits, digits.length - 1);
}

/** Checks digits by Verhoeff: the Aadhaar number of India. */
export function passesVerhoeff(digits: string): boolean {
  let check = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = digitAt(digits, digits.length - 1 - at);
    check = times(check, permuted(digit, at % 8));
  }
  return check === 0;
}

/** The multiplication of the dihedral group D5. */
function times(a: number, b: number): number {
  if (a < 5) return b < 5 ? (a + b) % 5 : ((a + b) % 5) + 5;
  return b < 5 ? ((a - b + 5) % 5) + 5 : (a - b + 5) % 5;
}

const permutation: readonly number[] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];

function permuted(digit: number, count: number): number {
  let value = digit;
  for (let done = 0; done < count; done++) value = permutation[value] as number;
  return value;
}

function digitAt(digits: string, at: number): number {
  return digits.charCodeAt(at) - 48;
}
