#include <sqlite3.h>

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
