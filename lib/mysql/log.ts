/** What lines of mysqld's error log mean, and of its tools'. */
import type { ServerLog } from '../judge/index.ts';

export const mysqlLog: ServerLog = {
  kept: /\[(ERROR|Warning)\]|ready for connections|Shutdown complete|corrupt/i,
  signs: { error: '[ERROR]', ready: 'ready for connections', stopped: 'Shutdown complete' },
  ofStorage: '[InnoDB]',
  damage: /\[InnoDB\]|corrupt|Assertion failure|mysqld got signal/i,
  // Of a data file whose first page is torn, before the copy from the doublewrite file is put there
  // (storage/innobase/fsp/fsp0file.cc, Datafile::validate_for_recovery).
  mended: /\[MY-012224\]/,
  afterwords: [
    /Plugin initialization aborted|Failed to initialize DD Storage Engine/,
    /Data Dictionary initialization failed|\[Server\] Aborting|ib::fatal triggered/,
    /^InnoDB: (If you get repeated assertion|corruption in the InnoDB tablespace\. Please)/,
    /mysqld got signal 6/,
  ],
  troubles: [
    {
      name: 'no lock',
      pattern: /unable to lock |already have another mysqld process/i,
      source:
        'innochecksum.cc (`Unable to lock file::`), os0file.cc (MY-012574 `Unable to lock ./`)',
    },
    {
      name: 'no asynchronous I/O',
      pattern: /\bio_setup\(\)|cannot initialize AIO sub-system/i,
      source: 'InnoDB, os0file.cc: /proc/sys/fs/aio-max-nr is used up',
    },
    {
      name: 'no threads',
      pattern: /can't create (a new )?thread|pthread_create.* (EAGAIN|returned 11)/i,
      source: 'ER_CANT_CREATE_THREAD, mysqld.cc',
    },
  ],
  modelled: {
    locked: '[MY-012574] [InnoDB] Unable to lock ./ibdata1 error: 11 (model)',
    recovered: '[MY-013577] [InnoDB] InnoDB initialization has ended. (model)',
  },
};
