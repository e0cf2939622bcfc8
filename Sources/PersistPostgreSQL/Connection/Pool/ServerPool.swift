import Foundation
import Persist

/// The connections of a store to its server: at most a few, each used by one thread at a time.
///
/// `@unchecked Sendable`: the lock protects the state, and a connection that was taken belongs to its taker.
final class ServerPool: @unchecked Sendable {
  let address: ServerAddress
  let options: StoreOptions
  let texts: ServerTexts
  /// The address for messages, without secrets.
  let url: URL?
  /// The source of all reads; nil for the pool's own connections and the newest state.
  private let source: (any ServerReadSource)?
  /// The position that the program has seen; nil without replicas that may be behind it.
  let seenPosition: SeenPosition?
  /// Writers pass it, except while the store is moved.
  private let gate = WriterGate()
  private let lock = NSLock()
  private var idle: [PooledConnection] = []
  private var isClosed = false
  private var isCounted = false
  private var watch: ServerWatch?
  /// The lock that shows others the program's model; nil unless the store serves two models.
  let presence = LockProtected<ServerPresence?>(nil)
  /// The right to use a connection: an idle one, or a new one.
  private let places = ConnectionPlaces(capacity: 10, forWriting: 8)
  /// The transactions that the writes of a thread continue.
  let continued = ContinuedTransactions()

  convenience init(_ address: ServerAddress, options: StoreOptions) {
    self.init(address, options: options, readingFrom: nil)
  }

  private init(_ address: ServerAddress, options: StoreOptions, readingFrom source: (any ServerReadSource)?) {
    self.address = address
    self.options = options
    texts = ServerTexts(schema: address.schema)
    self.source = source
    seenPosition = options.readsFrom.isEmpty ? nil : SeenPosition()
    url = address.url(showingSecrets: false)
  }

  /// A pool that reads the same store from elsewhere.
  func reading(from source: any ServerReadSource) -> ServerPool {
    let pool = ServerPool(address, options: options, readingFrom: source)
    pool.setWatch(lock.withLock { watch })
    return pool
  }

  /// The number of open stores of this program, by their addresses.
  private static let openCounts = LockProtected<[ServerAddress: Int]>([:])

  static func openCount(of address: ServerAddress) -> Int { openCounts.withLock { $0[address] ?? 0 } }

  /// Counts the pool as an open store, until it is closed.
  func countAsOpen() {
    lock.withLock { isCounted = true }
    Self.openCounts.withLock { $0[address, default: 0] += 1 }
  }

  func close() {
    lock.lock()
    isClosed = true
    if isCounted { Self.openCounts.withLock { $0[address, default: 1] -= 1 } }
    isCounted = false
    let unused = idle
    idle = []
    lock.unlock()
    for pooled in unused { pooled.connection.close() }
    presence.withLock { $0 = nil }
  }

  /// Starts checking with each read and write that the store is still the one opened, which the pool's connections lead
  /// to.
  func setWatch(_ watch: ServerWatch?) {
    lock.withLock {
      self.watch = watch
      for index in idle.indices { idle[index].database = watch?.mark.database }
    }
  }

  // MARK: Taking and returning

  /// Runs code with a session.
  ///
  /// - Parameter isToWrite: Whether it is to write. Canceling the running task then ends the wait for a connection.
  /// - Throws: ``ServerFailure`` and the errors of `body`.
  private func withSession<T>(
    toWrite isToWrite: Bool = false, checkedBy watch: ServerWatch?,
    _ body: (ServerSession, _ proofs: CommitProofs, _ wasIdle: Bool) throws -> T
  ) throws -> T {
    try enter(toWrite: isToWrite)
    defer { places.leave(toWrite: isToWrite) }
    var (pooled, wasIdle) = try take()
    defer { putBack(pooled) }
    let session = ServerSession(connection: pooled.connection, schema: address.schema, url: url)
    if let watch {
      if pooled.database == nil { pooled.database = try session.query(ServerMark.presentDatabase).text(0, 0) }
      do { try watch.check(database: pooled.database ?? "") } catch {
        pooled.connection.close()
        throw error
      }
    }
    return try body(session, pooled.proofs, wasIdle)
  }

  /// A connection with the numbers of its transactions.
  private struct PooledConnection {
    let connection: any ServerConnection
    let proofs = CommitProofs()
    /// The number of the database that it leads to; nil if that wasn't asked yet.
    var database: String?
  }

  /// Waits for the right to use a connection.
  private func enter(toWrite isToWrite: Bool) throws {
    var begun: ContinuousClock.Instant?
    let state = places.enter(toWrite: isToWrite) {
      begun = .now
      return BoundedWait(options.busyTimeout)
    }
    if let begun { options.instrument?.waited(for: .connection, .now - begun) }
    if state != .goingOn { throw error(state) }
  }

  /// The error of a wait for a connection that ended before.
  func error(_ state: BoundedWait.State) -> any Error {
    if state == .cancelled { return CancellationError() }
    return PersistenceError(
      .storeBusy, at: .store(url), "All \(places.capacity) connections to the server are in use.",
      fix: "Try again, or set a longer busyTimeout.")
  }

  /// The connection that was used last, or a new one.
  private func take() throws -> (PooledConnection, wasIdle: Bool) {
    while true {
      let pooled = try lock.withLock {
        if isClosed {
          throw PersistenceError(
            .storeOpenFailed, at: .store(url), "The store was closed.", fix: "Add it to a coordinator again.")
        }
        return idle.popLast()
      }
      guard let pooled else { return (PooledConnection(connection: try connect()), false) }
      if !pooled.connection.hasEnded() { return (pooled, true) }
      // The server may have restarted. Nothing was sent, so no work is half done.
      pooled.connection.close()
    }
  }

  private func connect() throws -> any ServerConnection {
    let begun = options.instrument == nil ? nil : ContinuousClock.now
    let connection = try ServerDrivers.current.connect(
      to: address, waitingAtMost: options.busyTimeout, limitingLocks: true)
    if let begun { options.instrument?.waited(for: .opening, .now - begun) }
    renewPresence()
    return options.instrument.map { ObservedConnection(connection, $0) } ?? connection
  }

  /// The state of the connections.
  var statistics: StoreStatistics {
    var statistics = StoreStatistics()
    statistics.idleConnections = lock.withLock { idle.count }
    statistics.connections = statistics.idleConnections + places.usedCount
    (statistics.maximumConnections, statistics.waitingWriters) = (places.capacity, places.waitingWriterCount)
    return statistics
  }

  private func closeIdle() {
    let unused = lock.withLock {
      defer { idle = [] }
      return idle
    }
    for pooled in unused { pooled.connection.close() }
  }

  private func putBack(_ pooled: PooledConnection) {
    let connection = pooled.connection
    guard connection.isOpen, !connection.isInTransaction else {
      // The cause, such as a restart or a quiet network, has probably ended the other connections too.
      if !connection.isOpen { closeIdle() }
      return connection.close()
    }
    let isKept = lock.withLock {
      if !isClosed { idle.append(pooled) }
      return !isClosed
    }
    if !isKept { connection.close() }
  }

  // MARK: Reading and writing

  /// Reads, without a transaction around several statements. Reads again if a connection turns out to be lost.
  func read<T>(_ body: (ServerSession) throws -> T) throws -> T {
    let watch = lock.withLock { () -> ServerWatch? in self.watch }
    return try mapped { try watched(by: watch) { try read(watch, at: nil, body) } }
  }

  /// Reads like ``read(_:)``, even if the store isn't the one opened any longer.
  func readUnwatched<T>(_ body: (ServerSession) throws -> T) throws -> T { try mapped { try read(nil, at: nil, body) } }

  /// - Throws: ``ServerFailure``, ``ServerWatch/Changed`` and the errors of `body`.
  func read<T>(
    _ watch: ServerWatch?, at position: PositionCheck?, _ body: (ServerSession) throws -> T
  ) throws -> T {
    if let source { return try source.read(watch, body) }
    while true {
      do {
        return try withSession(checkedBy: watch) { session, _, wasIdle in
          var session = session
          (session.watch, session.position) = (watch, position)
          do { return try body(session) } catch let failure as ServerFailure where failure.isDisconnected && wasIdle {
            throw LostConnection()
          }
        }
      } catch is LostConnection {}
    }
  }

  /// Runs a read or a write, again if the store has changed and is still the one opened.
  private func watched<T>(by watch: ServerWatch?, _ body: () throws -> T) throws -> T {
    for _ in 0..<Self.maximumLooks {
      do { return try body() } catch let change as ServerWatch.Changed {
        try lookAgain(watch)
        if let (failure, mark) = change.conclusion, watch?.mark == mark { throw failure }
      } catch let failure as ServerFailure where failure.mayComeFromChange {
        try lookAgain(watch)
        throw failure
      }
    }
    throw PersistenceError(
      .storeBusy, at: .store(url), "Other programs kept changing the store.", fix: "Try again.")
  }

  private static let maximumLooks = 10

  /// Looks at the store on a connection of its own, as all others may be waiting for the same.
  private func lookAgain(_ watch: ServerWatch?) throws {
    guard let watch else { return }
    let connection = try connect()
    defer { connection.close() }
    try watch.lookAgain(ServerSession(connection: connection, schema: address.schema, url: url))
  }

  private struct LostConnection: Error {}

  /// A statement of a write found that another transaction has changed its rows, unless a trigger of others failed in
  /// the same way.
  struct Overtaken: Error {}

  /// Records the server's present position as seen, if it has replicas.
  func recordSeenPosition() throws {
    guard let seenPosition else { return }
    _ = try mapped { try read(nil, at: .recording(seenPosition)) { try $0.run([]) } }
  }

  /// Reads one state of the store with several statements.
  func readTransaction<T>(_ body: (ServerSession) throws -> T) throws -> T {
    if let source, source.isOneState { return try read(body) }
    return try read { try $0.readTransaction(body) }
  }

  /// Writes in a transaction, and repeats it if the server requires that because of other transactions.
  ///
  /// - Parameters:
  ///   - usesFullNames: Whether all statements name the schema of each table.
  ///   - runsOnce: Whether `body` must not run again, because it consumes something. The transaction then fails if
  ///     others are in its way.
  ///   - checksVersions: Whether statements check versions themselves.
  ///   - excludesOthers: Whether all others wait to write until the end of the transaction.
  ///   - ends: Whether this write ends the transaction of ``excludingWriters(_:)``.
  ///   - body: Runs once for each attempt.
  /// - Throws: ``Overtaken`` if statements that check versions may have found another one.
  @discardableResult
  func write<T>(
    usingFullNames usesFullNames: Bool = false, once runsOnce: Bool = false,
    checkingVersions checksVersions: Bool = false, excludingOthers excludesOthers: Bool = false,
    ending ends: Bool = false, _ body: (ServerTransaction) throws -> T
  ) throws -> T {
    guard !options.isReadOnly else {
      throw PersistenceError(
        .storeReadOnly, at: .store(url), "The store was opened for reading only.",
        fix: "Open it without isReadOnly to write.")
    }
    if let transaction = continued.transaction {
      return try mapped(.saving) { try write(continuing: transaction, ending: ends, body) }
    }
    switch gate.enter(within: options.busyTimeout) {
    case .goingOn: break
    case .cancelled: throw CancellationError()
    case .over: throw PersistenceError(.storeBusy, at: .store(url), "The store is being moved.", fix: "Try again.")
    }
    defer { gate.leave() }
    let watch = lock.withLock { () -> ServerWatch? in self.watch }
    return try mapped(.saving) {
      try watched(by: watch) {
        do {
          return try write(
            checkedBy: watch, usingFullNames: usesFullNames, once: runsOnce, excludingOthers: excludesOthers, body)
        } catch let failure as ServerFailure where checksVersions && failure.isOvertaken {
          throw Overtaken()
        }
      }
    }
  }

  /// Runs `body` while no other thread of the program writes through this pool, and then closes it, so that no write
  /// can intervene.
  ///
  /// If `body` throws, the pool remains open.
  func closing<T>(_ body: () throws -> T) throws -> T {
    switch gate.shut(within: options.busyTimeout) {
    case .goingOn: break
    case .cancelled: throw CancellationError()
    case .over:
      throw PersistenceError(
        .storeBusy, at: .store(url), "Other parts of this program kept the store busy with writes.", fix: "Try again.")
    }
    defer { gate.open() }
    let result = try body()
    close()
    return result
  }

  private func write<T>(
    checkedBy watch: ServerWatch?, usingFullNames usesFullNames: Bool, once runsOnce: Bool,
    excludingOthers excludesOthers: Bool, _ body: (ServerTransaction) throws -> T
  ) throws -> T {
    let deadline = ContinuousClock.now + options.busyTimeout
    let outcome = ServerOutcome(address: address, wait: options.busyTimeout)
    var attempt = 0
    var mayRunAgain = true
    while true {
      do {
        return try withSession(toWrite: true, checkedBy: watch) { session, proofs, wasIdle in
          let transaction = ServerTransaction(
            session, texts, usingFullNames: usesFullNames, ofModel: announcedModel, waitingAtMost: options.busyTimeout,
            excludingOthers: excludesOthers, opened: watch.map { ($0, proofs.next()) })
          do {
            if runsOnce {
              // A lost connection or another mark is noticed by the first statements, before the body runs.
              try transaction.run([])
              mayRunAgain = false
            }
            let result = try body(transaction)
            try transaction.commit(recording: seenPosition, outcome)
            return result
          } catch let failure as ServerFailure where failure.isDisconnected && wasIdle && !transaction.hasBegun
            && !failure.isUnknownOutcome
          {
            throw LostConnection()
          } catch {
            session.rollBack()
            throw error
          }
        }
      } catch is LostConnection {
      } catch let failure as ServerFailure
        where failure.isRepeatable && mayRunAgain && ContinuousClock.now < deadline
      {
        attempt += 1
        // A random delay, so that two transactions that collided don't collide again.
        Thread.sleep(forTimeInterval: Double.random(in: 0...0.002) * Double(min(attempt, 20)))
      }
    }
  }

  /// Turns failures into errors.
  private func mapped<T>(_ work: ServerWork = .reading, _ body: () throws -> T) throws -> T {
    do { return try body() } catch let failure as ServerFailure {
      throw PersistenceError(failure, at: url, during: work)
    }
  }
}
