extension SQLiteConnectionPool {
  /// Reads, and returns the moment of reading; nil if something changed meanwhile.
  func readingWithMoment<T>(_ body: () throws -> T) rethrows -> (T, ReadMoment?) {
    let moment = ReadMoment(changeCount: shared.changeCount)
    let result = try body()
    return (result, shared.changeCount == moment.changeCount ? moment : nil)
  }

  /// Whether this program has neither changed the store since a moment nor noticed a change by others, and the moment
  /// is within ``ReadMoment/maximumAge``.
  func isRecent(_ moment: ReadMoment) -> Bool {
    shared.changeCount == moment.changeCount && moment.age <= maximumAge
  }
}
