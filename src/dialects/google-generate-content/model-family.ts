/** The facts of a model that decide the shape of a request, as its name tells them. */
export interface ModelFamily {
  /**
   * The generation of Gemini, such as 2 or 2.5. A name without one is that of a new model: aliases point to the latest.
   */
  generation: number;
  /** true: it is one of the open models, which take neither a system instruction nor a setting for thoughts. */
  isGemma: boolean;
  /** true: it makes images, and takes no setting for thoughts. */
  isImage: boolean;
  isPro: boolean;
  isLite: boolean;
}

/** Reads `gemini-2.5-flash-lite`, `models/gemini-3-pro-preview` or `gemini-flash-latest`. */
export function familyOf(model: string): ModelFamily {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  const [, generation] = /gemini-(\d+(?:\.\d+)?)/.exec(name) ?? [];
  return {
    generation: generation === undefined ? Number.POSITIVE_INFINITY : Number(generation),
    isGemma: name.startsWith('gemma'),
    isImage: /-image(?:-|$)/.test(name),
    isPro: /-pro(?:-|$)/.test(name),
    isLite: /-lite(?:-|$)/.test(name),
  };
}

/**
 * true: the model is a Gemini 3 or later. These take tools beside a schema, media in results of tools, and levels of
 * thinking.
 */
export function isGemini3({ generation, isGemma }: ModelFamily): boolean {
  return generation >= 3 && !isGemma;
}
