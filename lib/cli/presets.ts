/** The experiments that are files of experiments/, by their names. */
import { readdirSync } from 'node:fs';
import { isPreset } from '../core/index.ts';
import type { ExperimentDefinition } from './flags/request.ts';

const folder = new URL('../../experiments/', import.meta.url);

export const presetNames = (): string[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.mjs'))
    .map((file) => file.slice(0, -'.mjs'.length))
    .filter(isPreset)
    .toSorted();

/** Under `forcedetach` the file gives its data and plays nothing. */
export async function readPreset(name: string): Promise<ExperimentDefinition> {
  const file = (await import(new URL(`${name}.mjs`, folder).href)) as {
    readonly default: ExperimentDefinition;
  };
  return file.default;
}
