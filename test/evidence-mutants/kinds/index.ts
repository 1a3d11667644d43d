/** Every kind of evidence that is altered. */
import type { EvidenceMutant } from '../mutant.ts';
import { certificates } from './certificates.ts';
import { clients } from './clients.ts';
import { contradictions } from './contradictions.ts';
import { files } from './files.ts';
import { identities } from './identities.ts';
import { images } from './images.ts';
import { lives } from './lives.ts';
import { observers } from './observers.ts';
import { plot } from './plot.ts';
import { silentClients } from './silent-clients.ts';
import { writes } from './writes.ts';

export const evidenceMutants: readonly EvidenceMutant[] = [
  ...plot,
  ...clients,
  ...silentClients,
  ...observers,
  ...contradictions,
  ...lives,
  ...certificates,
  ...images,
  ...identities,
  ...files,
  ...writes,
];
