import CSQLiteForBenchmarks

/// Counts the statements that SQLite runs on every connection of this process.
///
/// SQLite calls the extension for each new connection, which is then traced. All contestants use the same library, so
/// that all are counted alike.
final class StatementCounter {
  // Contestants run on one thread at a time; a count that is off by one wouldn't matter.
  nonisolated(unsafe) private static var total = 0

  init() {
    let entry: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, UnsafeRawPointer?) -> Int32 = { handle, _, _ in
      sqlite3_trace_v2(
        handle, UInt32(SQLITE_TRACE_STMT),
        { _, _, _, _ in
          StatementCounter.total += 1
          return 0
        }, nil)
    }
    // SQLite declares the entry point without parameters and calls it with those of an extension.
    sqlite3_auto_extension(unsafeBitCast(entry, to: (@convention(c) () -> Void).self))
  }

  var count: Int { Self.total }
}
