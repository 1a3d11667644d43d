/** Every kind of evidence that is altered. */
import type { EvidenceMutant } from '../mutant.ts';
import { certificates } from './certificates.ts';
import { clients } from './clients.ts';
import { files } from './files.ts';
import { images } from './images.ts';
import { observers } from './observers.ts';
import { plot } from './plot.ts';
import { writes } from './writes.ts';

export const evidenceMutants: readonly EvidenceMutant[] = [
  ...plot,
  ...clients,
  ...observers,
  ...certificates,
  ...images,
  ...files,
  ...writes,
];
