import { lazily } from '../../base/lazily.ts';
import { isClean } from '../../base/text/clean-text.ts';
import { list, textUpTo } from '../bounded.ts';
import { expectation } from '../chat/expectations.ts';

/** Every request of a key is compared with all of its patterns. */
const maxPatterns = 100;
const maxPatternChars = 256;
const maxTags = 20;
const maxTagChars = 64;

/**
 * Patterns of model slugs, of which `*` matches anything. A pattern without a slash or a star would match no model. An
 * empty list is refused: it could mean all models or none.
 */
export const allowedModelPatterns = lazily(() =>
  list(
    textUpTo(maxPatternChars).refine(
      (pattern) => /[/*]/.test(pattern) && isClean(pattern),
      expectation('expected author/model, where * stands for any characters'),
    ),
  )
    .min(1)
    .max(maxPatterns),
);

/** Labels of a key. Records show them. */
export const keyTags = lazily(() =>
  list(
    textUpTo(maxTagChars).refine(
      (tag) => /\S/.test(tag) && isClean(tag),
      expectation('expected visible characters on one line'),
    ),
  ).max(maxTags),
);
