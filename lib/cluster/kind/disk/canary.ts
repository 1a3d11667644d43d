/** What readies a volume's crash canaries (lib/csi/canary.ts), to run on the node that has it mounted. */
import { canaryFolder, unsyncedCanary } from '../../../csi/canary.ts';

/**
 * Both files fill one block and are overwritten in place. `$1` is the mount point, `$2` the content;
 * padded with newlines to one block, which a reader trims.
 */
const script = `set -eu
folder="$1/${canaryFolder}"
mkdir -p "$folder"
block() { { printf '%s' "$1"; yes ''; } 2>/dev/null | head -c 4096; }
for name in synced ${unsyncedCanary}; do
  block before | dd of="$folder/$name" conv=notrunc,fsync iflag=fullblock bs=4096 status=none
done
sync "$folder"
block "$2" | dd of="$folder/synced" conv=notrunc,fsync iflag=fullblock bs=4096 status=none`;

/** Syncs the content into the one canary, and a word before it into the other. */
export const writeSyncedCanary = (mountPoint: string, content: string): readonly string[] => [
  'sh',
  '-c',
  script,
  'write-synced-canary',
  mountPoint,
  content,
];
