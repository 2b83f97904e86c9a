/**
 * The header of a request that a fusion has made, in this gateway or in another one. It holds the number of fusions
 * above the request.
 */
export const fusionDepthHeader = 'x-service-fusion-depth';

/** The headers of a request that the plugin makes: a provider may be a gateway as well, and run the plugin in its turn. */
export const depthHeaders: Readonly<Record<string, string>> = { [fusionDepthHeader]: '1' };
