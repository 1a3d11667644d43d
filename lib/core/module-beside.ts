/** Modules that run in a thread or a process of their own: source in a checkout, compiled in the npm package. */
import { extname } from 'node:path';

/** The module of that name, without its ending, beside the one that asks with its `import.meta`. */
export const moduleBeside = (name: string, { url }: { readonly url: string }): URL =>
  new URL(`${name}${extname(url)}`, url);
