/* The faults of faulty.c. `none` and `reader_none` are the controls, of level 1 and of level 2: they must pass. */

enum fault {
  /* Ciphers. Faults without a cipher's name are in decrypt, of all of them. */
  none,
  writes_behind,           /* one byte behind the output */
  writes_before,           /* one byte before the output */
  writes_far_before,       /* a byte 100 bytes before the output */
  writes_input,            /* the first byte of the input as it is, if that is not the output */
  reads_behind,            /* one byte behind the input; it does not matter which */
  writes_behind_iv,        /* one byte behind the IV of CBC */
  writes_key,              /* the first byte of the key as it is */
  reads_behind_key,        /* one byte behind the key */
  writes_counter,          /* adds to the counter block of CTR, which is the harness's */
  crashes,                 /* writes to NULL */
  divides,                 /* divides by 0 */
  maps_cut_file,           /* reads a mapped file behind its end */
  traps,                   /* the instruction that compilers put where nothing must come by */
  overflows_stack,         /* calls itself for ever */
  prints_and_exits,        /* prints what a good result is, and calls exit(0) in CBC */
  exits,                   /* calls exit(0) in CBC */
  exits_at_once,           /* calls _exit(0) in CBC */
  aborts,                  /* calls abort */
  kills,                   /* sends SIGKILL to its own process */
  stops,                   /* sends SIGSTOP to its own process, which is then there and silent */
  hangs,                   /* sleeps for ever */
  spins,                   /* computes for ever */
  forks,                   /* starts a process that sleeps for ever, with all files that are open */
  returns_77,              /* after the right work */
  returns_negative,        /* -1, after the right work */
  fails_now_and_then,      /* each 100th call does nothing and returns CHUNKWISE_INTERNAL */
  ctr_unsupported,         /* decrypt returns CHUNKWISE_UNSUPPORTED in CTR */
  ctr_key_unsupported,     /* key returns CHUNKWISE_UNSUPPORTED for CTR */
  does_nothing,            /* returns CHUNKWISE_OK, and leaves the output as it was */
  prints,                  /* prints a line */
  prints_answers,          /* prints what looks like an answer of the protocol, by write(1, …) */
  prints_much,             /* prints a megabyte to standard error */
  closes_files,            /* closes the files 0, 1 and 2 */
  reads_input_file,        /* reads from standard input */
  keeps_iv,                /* uses the IV of the call before */
  keeps_position,          /* of calls of CTR with one schedule, all but the first go on where the last one ended */
  accepts_any_key,         /* takes a key of 15 bytes for one of 16 */
  key_192_unsupported,     /* key returns CHUNKWISE_UNSUPPORTED for 24 bytes: no fault, but less than others have */
  key_192_invalid,         /* the same with CHUNKWISE_INVALID_KEY */
  key_gives_null,          /* key returns CHUNKWISE_OK, but no schedule: for schedules that are looked up, no fault */
  crashes_in_key,
  crashes_in_key_free,
  hangs_in_key_free,
  accepts_any_tag,         /* GCM ignores the tag */
  ignores_associated_data, /* GCM authenticates the message alone */
  nonces_of_none,          /* nonces gives an empty range */
  /* Tables. */
  abi_2,
  size_8,
  null_table,
  no_name,
  no_version,
  no_functions,
  only_key,                /* key and key_free, but no cipher */
  endless_name,            /* a name of 1 MiB */
  odd_name,                /* a name with a newline, an escape, and bytes that are no UTF-8 */
  entry_crashes,
  entry_exits,
  entry_hangs,
  loading_crashes,         /* in a constructor */
  loading_exits,
  loading_hangs,
  unloading_crashes,       /* in a destructor */
  unloading_hangs,
  /* Whole readers, of `ctr` alone. */
  reader_none,
  reader_delivers_more,    /* writes more bytes than asked for, and says so */
  reader_overflows,        /* writes one byte more than asked for, and does not say so */
  reader_writes_before,    /* writes one byte before the buffer */
  reader_says_more,        /* says that it delivered count + 1 */
  reader_says_most,        /* says that it delivered SIZE_MAX */
  reader_says_nothing,     /* leaves `delivered` as it was */
  reader_says_less,        /* one byte less than it delivered */
  reader_ignores_io,       /* takes -CHUNKWISE_IO for zeros */
  reader_ignores_end,      /* takes a source that ends early for zeros */
  reader_ignores_short,    /* takes a read of the source to deliver all that was asked for */
  reader_fetches_all,      /* fetches from the source's start on */
  reader_fetches_beyond,   /* asks the source for bytes behind its end */
  reader_length_wrong,     /* gives a length of one byte more */
  reader_length_huge,      /* gives a length of 2^64 - 1 */
  reader_opens_null,       /* returns CHUNKWISE_OK from open, but no object: for objects that are looked up, no fault */
  reader_wrong_error,      /* a read past the end is CHUNKWISE_INVALID_REQUEST */
  reader_key_unchecked,    /* checks the IV before the key */
  reader_writes_key,       /* open writes to the key's bytes */
  reader_reads_behind_key, /* open reads the byte behind the key */
  reader_unknown_strategy, /* says that it has a strategy that there is not */
  reader_refuses_ctr,      /* open returns CHUNKWISE_UNSUPPORTED */
  reader_returns_77,       /* from read */
  reader_crashes_in_open,
  reader_crashes_in_read,
  reader_crashes_in_close,
  reader_exits_in_read,
  reader_hangs_in_open,
  reader_hangs_in_read,
  reader_overflows_stack,
  reader_prints,
  reader_no_strategies,
};

#ifndef FAULT
#define FAULT none
#endif

static int fault(enum fault which) { return FAULT == which; }
