/** The form of a scenario in a record: each field by itself. */
import { z } from 'zod';
import { shapeOf } from './fields/field.ts';
import { fields } from './fields.ts';
import { inShort } from './written-paths.ts';

export const record = z.strictObject(shapeOf(fields)).transform((scenario) => inShort(scenario));

export type Scenario = Readonly<z.output<typeof record>>;
export type ScenarioInput = z.input<typeof record>;
