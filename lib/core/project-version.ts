/** The version of this project, for the npm package too: scripts/pack.ts. */
export const projectVersion = '0.1.0';
