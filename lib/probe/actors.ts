/** Tools that act on a lost node without being asked, as data/actors.yaml lists them. */
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { readYaml } from '../core/index.ts';

const pattern = z.string().transform((text) => new RegExp(text));
const actorSchema = z.strictObject({
  name: z.string(),
  crds: pattern.optional(),
  pods: pattern.optional(),
  does: z.string(),
  proof: z.string(),
  safe: z.boolean().default(false),
});
export type Actor = Readonly<z.output<typeof actorSchema>>;

const path = fileURLToPath(new URL('../../data/actors.yaml', import.meta.url));
let read: readonly Actor[] | undefined;

/** Throws UsageError `ACTORS_…` where the file is damaged. */
export const allActors = (): readonly Actor[] =>
  (read ??= readYaml(path, {
    kind: 'actors',
    schema: z.array(actorSchema),
    hint: 'the head of the file says what each field means',
    example: 'data/actors.yaml',
  }));

/** Without the link. */
export const plainName = ({ name }: Actor): string =>
  name.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '');
