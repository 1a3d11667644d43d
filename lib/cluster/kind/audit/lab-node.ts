/**
 * How node runs a program in the lab: what was compiled is kept for the next one, which then starts
 * sooner and without the memory that TypeScript takes. Rows live shortly, so both generations of
 * objects are kept small: node would rather let its heap grow than collect it.
 */
export const smallHeap: readonly string[] = ['--max-semi-space-size=2', '--max-old-space-size=64'];

export const labNode: readonly string[] = [
  ...['env', 'NODE_COMPILE_CACHE=/tmp/forcedetach-compiled', 'node'],
  ...smallHeap,
];
