/** Nobody does anything. */
import { remedyKind } from './kind.ts';

export const none = remedyKind({ name: 'none', on: 'nothing', does: 'nothing' });
