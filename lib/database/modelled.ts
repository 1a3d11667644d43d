/** What the model says of the database's own part of an audit. */
import * as builtIn from '../mysql/modelled.ts';
import { brought } from './chosen.ts';
import type { ModelledEvidence } from './port.ts';

export const modelledEvidence: ModelledEvidence = (...found) =>
  (brought?.own.modelled ?? builtIn.modelledEvidence)(...found);
