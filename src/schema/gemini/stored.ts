/** The name of something that is stored in an account of Google's: a cache, a file, a store of files, a bucket. */
const storedName =
  /^(?:gs:|(?:projects|files|cachedContents|fileSearchStores|ragStores|corpora|tunedModels)\/|https?:\/\/(?:[\w-]+\.)?(?:generativelanguage|aiplatform)\.googleapis\.com\/|https?:\/\/[\w-]+-aiplatform\.googleapis\.com\/)/i;

/** true: the text names something that is stored in an account, so only who has the credential of the account may use it. */
export function isStoredName(text: string): boolean {
  return storedName.test(text);
}
