extension SQLiteConnection {
  /// Runs a read that can be monitored and canceled.
  func watched<T>(by monitor: ReadMonitor?, _ body: () throws -> T) throws -> T {
    guard let monitor else { return try body() }
    return try monitor.run(interrupting: { [interruption] in interruption.interrupt() }, body)
  }
}
