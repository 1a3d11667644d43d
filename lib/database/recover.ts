/** How the database that runs take is recovered from a crash state. */
import { recoverImage as recoverMysql } from '../mysql/audit/recover-image.ts';
import type { RecoverImage } from './server-port.ts';

export const recoverImage: RecoverImage = recoverMysql;
