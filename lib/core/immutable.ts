/** A type whose parts can't be changed either, all the way down: of what a schema reads. */
export type Immutable<T> = T extends object ? { readonly [K in keyof T]: Immutable<T[K]> } : T;
