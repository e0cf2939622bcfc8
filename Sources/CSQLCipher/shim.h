// Declares the functions that set keys.
#ifndef SQLITE_HAS_CODEC
#define SQLITE_HAS_CODEC 1
#endif
#include <sqlcipher/sqlite3.h>
#include "../CSQLite/functions.h"
