/**
 * Crash canaries: two files beside the database's own on the volume. Right before a crash both are
 * overwritten and only one is synced, so a crash that is real leaves the one and takes the other.
 */

/** On the volume; mysqld's data directory is another one. */
export const canaryFolder = 'canary';

/**
 * Both files fill one block and are overwritten in place: a grown file's data would be written with
 * the other's fsync. `$1` is the mount point, `$2` the content; padded with newlines to one block, which a reader
 * trims.
 */
const script = `set -eu
folder="$1/${canaryFolder}"
mkdir -p "$folder"
block() { { printf '%s' "$1"; yes ''; } 2>/dev/null | head -c 4096; }
for name in synced unsynced; do
  [ -s "$folder/$name" ] || block before | dd of="$folder/$name" conv=fsync status=none
done
sync "$folder" "$folder/synced" "$folder/unsynced"
block "$2" | dd of="$folder/synced" conv=notrunc,fsync iflag=fullblock bs=4096 status=none
block "$2" | dd of="$folder/unsynced" conv=notrunc iflag=fullblock bs=4096 status=none`;

/** To run on the node that has the volume mounted. */
export const writeCanaries = (mountPoint: string, content: string): readonly string[] => [
  'sh',
  '-c',
  script,
  'write-canaries',
  mountPoint,
  content,
];

/** A canary's content without its padding. */
export const canaryContentOf = (file: string): string => file.trimEnd();
