/** What reads an image of a volume from cold: a part of the port between an experiment and its cluster. */
import type { ImageEvidence, LedgerRow } from '../checkers/evidence.ts';
import type { ImageLabel } from '../storage/identity.ts';

export interface Auditor {
  /**
   * Starts the server on a cold copy of the image and reads everything. Rows stream into `onRow`. Rejects
   * when aborted, once nothing of it runs any more.
   */
  audit(
    image: ImageLabel,
    onRow: (row: LedgerRow) => void,
    signal?: AbortSignal,
  ): Promise<ImageEvidence>;
}
