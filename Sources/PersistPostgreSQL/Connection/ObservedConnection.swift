import Persist

/// A connection whose statements are reported to an instrument.
final class ObservedConnection: ServerConnection {
  private let base: any ServerConnection
  private let instrument: any StoreInstrument

  init(_ base: any ServerConnection, _ instrument: any StoreInstrument) {
    self.base = base
    self.instrument = instrument
  }

  func run(_ statements: [ServerStatement]) throws -> [any ServerResult] {
    instrument.executed(statements: statements.count)
    return try base.run(statements)
  }

  func copy(_ statement: String, _ bytes: [UInt8]) throws {
    instrument.executed(statements: 1)
    try base.copy(statement, bytes)
  }

  var whileWaiting: (() -> Bool)? {
    get { base.whileWaiting }
    set { base.whileWaiting = newValue }
  }

  func waitForNotification(_ time: Duration) throws -> Bool { try base.waitForNotification(time) }
  var isOpen: Bool { base.isOpen }
  func hasEnded() -> Bool { base.hasEnded() }
  var isPooled: Bool { base.isPooled }
  var isInTransaction: Bool { base.isInTransaction }
  var cancel: @Sendable () -> Void { base.cancel }
  func close() { base.close() }
}
