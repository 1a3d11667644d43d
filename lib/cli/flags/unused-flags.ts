/** Flags about clusters and their images, that the chosen backend does not use: reported, since old replays have them. */
import type { Option } from 'commander';
import type { BackendChoice } from '../library/backend-choice.ts';

const ofClusters: ReadonlySet<string | undefined> = new Set([
  ...['--cluster-name', '--cluster-names', '--pools'],
  ...['--images', '--registry', '--keep'],
]);

/** One line, or none; a flag that says its default asks for nothing. */
export function unusedFlags(
  options: readonly Option[],
  flags: object,
  { images }: Pick<BackendChoice, 'images'>,
): string[] {
  if (images !== undefined) return [];
  const values = new Map<string, unknown>(Object.entries(flags));
  const unused = options
    .filter(({ long }) => ofClusters.has(long))
    .filter((option) => {
      const value = values.get(option.attributeName()) ?? false;
      return value !== (option.defaultValue ?? false);
    });
  if (unused.length === 0) return [];
  return [`the model does not use ${unused.map(({ long }) => long).join(', ')}`];
}
