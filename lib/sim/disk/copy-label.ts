/** Which copy of the model's volume is which, told as the array of kind tells it. */
import { hash } from 'node:crypto';
import type { CopyIdentity, VolumeIdentity } from '../../history/index.ts';
import { bytesPerCommit } from '../timings.ts';
import type { Image, Volume } from './volume.ts';

/** A copy as it lies in the copies' folder, with its label. */
export interface SimCopy {
  readonly image: Image;
  readonly made: CopyIdentity;
}

/** File system and database number `made` of the model's volume. */
export const uuidOf = (made: number): string => `model-${made}`;

export const identityOf = ({ made, name }: Pick<Volume, 'made' | 'name'>): VolumeIdentity => ({
  volume: name,
  filesystemUuid: uuidOf(made),
  serverUuid: uuidOf(made),
});

/** `number`: counts the run's copies. */
export const labelled = (image: Image, volume: Volume, number: number): CopyIdentity => ({
  copy: `model-${number}`,
  volume: volume.name,
  generation: volume.files === undefined ? volume.paths.length : 0,
  stamp: `model-${number}`,
  ...contentOf(image),
});

/** What whoever opens the copy finds. */
export const opened = ({ image, made }: SimCopy): CopyIdentity => ({
  ...made,
  ...contentOf(image),
});

function contentOf({
  rows,
  canaries,
  made,
}: Image): Pick<CopyIdentity, 'bytes' | 'digest' | 'filesystemUuid'> {
  const names = rows.map((row) => row?.hash ?? '-');
  return {
    bytes: rows.length * bytesPerCommit,
    digest: hash('sha256', JSON.stringify([names, canaries, made])),
    ...(made === undefined ? {} : { filesystemUuid: uuidOf(made) }),
  };
}
