/** The formats whose encrypted part is `encrypted_content` of an item, bound to the item's id. */
const responsesFormat = /^(?:[a-z]+-)*responses-v1$/;

export function isResponsesFormat(format: unknown): boolean {
  return typeof format === 'string' && responsesFormat.test(format);
}
