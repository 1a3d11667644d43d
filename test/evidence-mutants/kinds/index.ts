/** What is altered by hand, since no attack on a witness makes it. */
import type { EvidenceMutant } from '../mutant.ts';
import { files } from './files.ts';
import { records } from './records.ts';

export const evidenceMutants: readonly EvidenceMutant[] = [...records, ...files];
