#if canImport(PersistPostgreSQL)
  package import PersistPostgreSQL

  /// A connection to a server that passes everything on to another, its flights through functions of a test.
  package final class ForwardedConnection: ServerConnection {
    package typealias Run = (any ServerConnection, [ServerStatement]) throws -> [any ServerResult]
    package typealias Copy = (any ServerConnection, _ statement: String, _ bytes: [UInt8]) throws -> Void

    private let inner: any ServerConnection
    private let runThrough: Run
    private let copyThrough: Copy

    package init(
      _ inner: any ServerConnection, run: @escaping Run, copy: @escaping Copy = { try $0.copy($1, $2) }
    ) {
      (self.inner, runThrough, copyThrough) = (inner, run, copy)
    }

    package func run(_ statements: [ServerStatement]) throws -> [any ServerResult] { try runThrough(inner, statements) }
    package func copy(_ statement: String, _ bytes: [UInt8]) throws { try copyThrough(inner, statement, bytes) }
    package var whileWaiting: (() -> Bool)? {
      get { inner.whileWaiting }
      set { inner.whileWaiting = newValue }
    }
    package func waitForNotification(_ time: Duration) throws -> Bool { try inner.waitForNotification(time) }
    package var isOpen: Bool { inner.isOpen }
    package func hasEnded() -> Bool { inner.hasEnded() }
    package var isPooled: Bool { inner.isPooled }
    package var isInTransaction: Bool { inner.isInTransaction }
    package var cancel: @Sendable () -> Void { inner.cancel }
    package func close() { inner.close() }
  }
#endif
