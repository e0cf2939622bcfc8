// Functions over the SQLite library whose header was included before.
#include <string.h>
#if defined(__linux__)
#include <fcntl.h>
#include <unistd.h>
#include <sys/syscall.h>
#elif defined(__APPLE__) || defined(__FreeBSD__)
#include <sys/stat.h>
#endif

// The time at which a file was created, in nanoseconds since 1970; 0 where the file system doesn't know it.
static inline long long persist_file_birth(const char *path) {
#if defined(__linux__) && defined(SYS_statx)
  // The structure is declared under conditions that a module can't set. The fields used have fixed places: the mask of
  // known fields, in which 0x800 is the time of creation, and that time at byte 80.
  unsigned char facts[256];
  unsigned int mask = 0, nanoseconds = 0;
  long long seconds = 0;
  memset(facts, 0, sizeof facts);
  if (syscall(SYS_statx, AT_FDCWD, path, 0, 0x800u, facts) != 0) return 0;
  memcpy(&mask, facts, sizeof mask);
  if (!(mask & 0x800u)) return 0;
  memcpy(&seconds, facts + 80, sizeof seconds);
  memcpy(&nanoseconds, facts + 88, sizeof nanoseconds);
  return seconds * 1000000000LL + nanoseconds;
#elif defined(__APPLE__) || defined(__FreeBSD__)
  struct stat facts;
  // FreeBSD says -1 where it is unknown.
  if (stat(path, &facts) != 0 || facts.st_birthtimespec.tv_sec < 0) return 0;
  return facts.st_birthtimespec.tv_sec * 1000000000LL + facts.st_birthtimespec.tv_nsec;
#else
  (void)path;
  return 0;
#endif
}

// The part of a log's index that shows whether pages were moved from the log into the database: the log's salt, the
// number of pages moved, and the number that a process began to move. All are 0 if there is no index.
//
// https://sqlite.org/walformat.html#the_wal_index_file_format
static inline int persist_sqlite3_log_progress(sqlite3 *db, unsigned int progress[4]) {
  sqlite3_file *file = 0;
  void volatile *index = 0;
  memset(progress, 0, 4 * sizeof *progress);
  if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return 0;
  if (!file || !file->pMethods || file->pMethods->iVersion < 2 || !file->pMethods->xShmMap) return 0;
  if (file->pMethods->xShmMap(file, 0, 32768, 0, &index) != SQLITE_OK || !index) return 0;
  unsigned int volatile *words = (unsigned int volatile *)index;
  progress[0] = words[8];
  progress[1] = words[9];
  progress[2] = words[24];
  progress[3] = words[32];
  return 1;
}

// SQLCipher's functions for keys. A program that was built with plain SQLite also has them if it runs with SQLCipher's
// library in the place of SQLite's (on Linux, with LD_PRELOAD): the loader then resolves the weak references.
#if defined(SQLITE_HAS_CODEC)
#define PERSIST_KEYS 1
#elif defined(__linux__)
#define PERSIST_KEYS 1
extern int sqlite3_key_v2(sqlite3 *db, const char *name, const void *key, int size) __attribute__((weak));
extern int sqlite3_rekey_v2(sqlite3 *db, const char *name, const void *key, int size) __attribute__((weak));
#else
#define PERSIST_KEYS 0
#endif

// Whether the library can encrypt.
static inline int persist_sqlite3_has_keys(void) {
#if PERSIST_KEYS
  // The functions of a second library that happens to be loaded aren't those of this one.
  return sqlite3_key_v2 && sqlite3_rekey_v2 && sqlite3_compileoption_used("HAS_CODEC");
#else
  return 0;
#endif
}

static inline int persist_sqlite3_key(sqlite3 *db, const void *key, int size) {
#if PERSIST_KEYS
  if (persist_sqlite3_has_keys()) return sqlite3_key_v2(db, "main", key, size);
#endif
  return SQLITE_MISUSE;
}

static inline int persist_sqlite3_rekey(sqlite3 *db, const void *key, int size) {
#if PERSIST_KEYS
  if (persist_sqlite3_has_keys()) return sqlite3_rekey_v2(db, "main", key, size);
#endif
  return SQLITE_MISUSE;
}

// Overwrites memory that held a secret, which no compiler leaves out.
static inline void persist_wipe(void *memory, size_t count) {
  volatile unsigned char *byte = (volatile unsigned char *)memory;
  while (count--) *byte++ = 0;
}

// Swift can't call variadic functions or spell SQLITE_TRANSIENT; these say the same without either.

static inline int persist_sqlite3_keep_wal_on_close(sqlite3 *db) {
  return sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

// Sets a flag of a connection, and returns its former value.
static inline int persist_sqlite3_set_flag(sqlite3 *db, int flag, int value) {
  int former = 0;
  sqlite3_db_config(db, flag, -1, &former);
  sqlite3_db_config(db, flag, value, (int *)0);
  return former;
}

// The byte of the SQL that the last error is about; -1 where it is about none, and before SQLite 3.38.
static inline int persist_sqlite3_error_offset(sqlite3 *db) {
#if SQLITE_VERSION_NUMBER >= 3038000
  return sqlite3_error_offset(db);
#else
  return -1;
#endif
}

static inline int persist_sqlite3_bind_text_copy(sqlite3_stmt *statement, int index, const char *text, sqlite3_uint64 size) {
  return sqlite3_bind_text64(statement, index, text, size, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int persist_sqlite3_bind_blob_copy(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 size) {
  return sqlite3_bind_blob64(statement, index, bytes, size, SQLITE_TRANSIENT);
}

static inline int persist_sqlite3_bind_text_borrowed(sqlite3_stmt *statement, int index, const char *text, sqlite3_uint64 size) {
  return sqlite3_bind_text64(statement, index, text, size, SQLITE_STATIC, SQLITE_UTF8);
}

static inline int persist_sqlite3_bind_blob_borrowed(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 size) {
  return sqlite3_bind_blob64(statement, index, bytes, size, SQLITE_STATIC);
}

static inline void persist_sqlite3_result_text_copy(sqlite3_context *context, const char *text, sqlite3_uint64 size) {
  sqlite3_result_text64(context, text, size, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline void persist_sqlite3_result_blob_copy(sqlite3_context *context, const void *bytes, sqlite3_uint64 size) {
  sqlite3_result_blob64(context, bytes, size, SQLITE_TRANSIENT);
}
