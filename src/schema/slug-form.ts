/** The form of a provider's slug, and of a variant. Linear in the length of the text. */
export const slugForm = /^[a-z0-9]+(?:[-.][a-z0-9]+)*$/;
