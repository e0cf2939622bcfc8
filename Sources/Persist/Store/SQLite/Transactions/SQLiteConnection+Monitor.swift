extension SQLiteConnection {
  /// Runs a read, which somebody may watch and stop.
  func watched<T>(by monitor: ReadMonitor?, _ body: () throws -> T) throws -> T {
    guard let monitor else { return try body() }
    return try monitor.run(interrupting: { [interruption] in interruption.interrupt() }, body)
  }
}
