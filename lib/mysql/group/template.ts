/** The pods of a replication group: manifests/mysql/group.yaml. */
import type { GroupTemplate } from '../../database/port.ts';

export const groupTemplate: GroupTemplate = {
  name: 'mysql-group',
  values: (image, { scenario, settings }, groupId) => ({
    MYSQL_IMAGE: image,
    TRX_COMMIT: scenario.trxCommit,
    GROUP_NAME: groupId,
    CONSISTENCY: settings.consistency,
    MAJORITY_TIMEOUT_SECONDS: settings.majorityTimeoutS,
    EXIT_ACTION: settings.exitAction,
    AUTOREJOIN_TRIES: settings.autorejoinTries,
    EXPEL_TIMEOUT_SECONDS: settings.expelTimeoutS,
  }),
};
