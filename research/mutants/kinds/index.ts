/** All kinds of damage that are planted. */
import type { Mutant } from '../mutant.ts';
import { fileSystemKinds } from './file-systems.ts';
import { historyKinds } from './histories.ts';
import { imageKinds } from './images.ts';
import { pageKinds } from './page-damage.ts';
import { rowKinds } from './rows.ts';
import { twoWriterKinds } from './two-writers.ts';

export const mutants: readonly Mutant[] = [
  ...pageKinds,
  ...rowKinds,
  ...imageKinds,
  ...fileSystemKinds,
  ...historyKinds,
  ...twoWriterKinds,
];
