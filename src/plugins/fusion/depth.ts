/** Says that a fusion made the request, of this gateway or of another one, and how many fusions stand above it. */
export const fusionDepthHeader = 'x-service-fusion-depth';

/** The headers of a request that the plugin makes: a provider may be a gateway as well, and run the plugin in its turn. */
export const depthHeaders: Readonly<Record<string, string>> = { [fusionDepthHeader]: '1' };
