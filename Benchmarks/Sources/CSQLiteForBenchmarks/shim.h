#include <sqlite3.h>
#if defined(__GLIBC__) || defined(__linux__)
#include <malloc.h>  // mallinfo2, which the Glibc module leaves out
#endif
