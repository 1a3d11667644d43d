/** What every other room is made of: errors, time, random, text, numbers, files, and access to a Kubernetes API. */
export * from './capabilities.ts';
export * from './data-file.ts';
export * from './errors.ts';
export * from './files.ts';
export * from './kubernetes-client.ts';
export * from './kubernetes.ts';
export * from './numbers.ts';
export * from './owner.ts';
export * from './program.ts';
export * from './random.ts';
export * from './source.ts';
export * from './time.ts';
