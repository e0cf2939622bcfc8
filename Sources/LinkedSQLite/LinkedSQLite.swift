// The SQLite library that the package is built with: SQLCipher's with the trait of that name, or else the system's.
#if SQLCipher
  @_exported public import CSQLCipher
#else
  @_exported public import CSQLite
#endif
