/** The judgement of a text. */
export interface Verdict {
  /** true: the text must not pass. */
  flagged: boolean;
  /** Categories, such as `violence`; shown to the caller. */
  reasons: readonly string[];
}

/** Classifies texts. */
export interface Moderator {
  /** The name that is shown as `provider_name` where a request is refused. */
  name: string;
  /** The name that is shown as `model_slug`. */
  model: string;
  /**
   * true: the moderator asks no service, and costs the operator nothing. false: a workspace that uses its own
   * credentials alone cannot ask for it. Default false.
   */
  isLocal?: boolean;
  /**
   * @param texts   at most 32, each of at most 16,384 characters
   * @param signal  aborted when the client leaves, and at the plugin's time limit
   * @returns a verdict for each text, in order
   * @throws any error: the request is refused with 503, which does not show it
   */
  classify(texts: readonly string[], signal: AbortSignal): Promise<readonly Verdict[]>;
}
