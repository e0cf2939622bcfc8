import Foundation
package import Persist

/// A connection with the store that its statements are about.
struct ServerSession {
  let connection: any ServerConnection
  let schema: String
  /// The address for messages, without secrets.
  let url: URL?
  /// Checks in each flight that the store is still the one opened; nil for no checks.
  var watch: ServerWatch?
  /// Compares or records the server's position with each flight; nil for neither.
  var position: PositionCheck?

  /// Runs statements in one flight.
  @discardableResult
  func run(_ texts: [ServerText], areReused: Bool = false) throws -> [any ServerResult] {
    func check(_ text: ServerText) -> ServerStatement { text.statement(in: schema, isReused: true) }
    var statements = texts.map { $0.statement(in: schema, isReused: areReused) }
    // A replica that has reached a position before it reads shows at least the state of that position.
    if case .reaching = position { statements.insert(check(SeenPosition.reached), at: 0) }
    if watch != nil { statements.append(check(ServerMark.present)) }
    if case .recording = position { statements.append(check(SeenPosition.written)) }
    var results = try connection.run(statements)
    if case .recording(let seen) = position { seen.record(results.popLast()) }
    if case .reaching(let seen) = position { try seen.requireReached(results.removeFirst()) }
    try watch?.check(results.popLast())
    return results
  }

  /// The rows of one statement.
  func query(_ text: ServerText, isReused: Bool = false) throws -> any ServerResult {
    guard let result = try run([text], areReused: isReused).first else {
      throw ServerFailure(state: "", message: "The server returned no result.")
    }
    return result
  }

  /// The number of rows that one statement changed.
  @discardableResult
  func execute(_ text: ServerText) throws -> Int { try query(text).changedRowCount }

  /// The first row of one statement; nil if there is none.
  func first<T>(_ text: ServerText, _ read: (any ServerResult, _ row: Int) throws -> T) throws -> T? {
    let result = try query(text)
    return result.rowCount > 0 ? try read(result, 0) : nil
  }

  /// All rows of one statement.
  func all<T>(_ text: ServerText, _ read: (any ServerResult, _ row: Int) throws -> T) throws -> [T] {
    let result = try query(text)
    return try (0..<result.rowCount).map { try read(result, $0) }
  }

  /// Reads one state of the store with several statements.
  func readTransaction<T>(_ body: (ServerSession) throws -> T) throws -> T {
    guard position == nil else {
      // Compares the position before the transaction's snapshot is taken.
      try run([])
      var session = self
      session.position = nil
      return try session.readTransaction(body)
    }
    try run([
      "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "SET LOCAL search_path TO \(schema: ()), pg_temp",
      ServerText.plainNames,
    ])
    do {
      let result = try body(self)
      try run(["COMMIT"])
      return result
    } catch {
      rollBack()
      throw error
    }
  }

  /// Ends the transaction, if the connection still exists.
  func rollBack() {
    guard connection.isOpen, connection.isInTransaction else { return }
    // A failure leaves the transaction open, and the pool then closes the connection, which rolls back as well.
    _ = try? connection.run([ServerStatement("ROLLBACK")])
  }
}

/// The work of a connection, as far as its loss has different consequences.
enum ServerWork: Sendable {
  case reading, saving, migrating

  /// The end of the sentence that the connection was lost.
  fileprivate var consequence: String {
    switch self {
    case .reading: " while reading."
    case .saving: ". Nothing was saved."
    case .migrating: ". The store is unchanged."
    }
  }
}

extension ServerFailure {
  /// Whether the server rolled back a transaction only because of others: it can be run again.
  var isRepeatable: Bool { ["40001", "40P01"].contains(state) }

  /// Whether a statement that checks versions itself may have found another one: it divides by zero then, because that
  /// is the error that a plain statement can cause.
  var isOvertaken: Bool { state == "22012" }
}

extension PersistenceError {
  /// Whether the server computed a number that its type can't represent, where SQLite and Persist continue with another
  /// type.
  var isOutOfRange: Bool { engineMessage?.hasSuffix("(22003)") == true }

  /// Whether the server gave up because of the locks of others: the same may succeed in a moment.
  var isOfLocks: Bool {
    ["(55P03)", "(40001)", "(40P01)"].contains { engineMessage?.hasSuffix($0) == true }
  }

  /// Whether the server has rolled back the transaction because the program did nothing for too long.
  package var isOfIdleTime: Bool { engineMessage?.hasSuffix("(25P03)") == true }

  /// Whether the user has no right to what was tried.
  var isOfMissingRight: Bool { engineMessage?.hasSuffix("(42501)") == true }

  /// Whether a new row has a key that is in use. The server's message names the key's column in every language; the
  /// constraint can't be used, because it may still be named for a former table.
  var isOfKey: Bool {
    code == .constraintConflict && engineMessage?.contains("(id)=(") == true
  }

  /// - SeeAlso: <https://www.postgresql.org/docs/current/errcodes-appendix.html>
  ///
  /// - Parameter work: The interrupted work, about which the error says what it means if the connection was lost.
  init(_ failure: ServerFailure, at url: URL?, during work: ServerWork = .reading) {
    // Contains the constraint's name, by which the store describes the error in terms of the model.
    let place = Place(store: url, key: failure.constraint)
    // libpq continues some of its messages on a second line.
    let words = failure.message.replacing("\n\t", with: ". ")
    // The server may close a connection without a message.
    let said = [words, failure.state.isEmpty ? "" : "(\(failure.state))"].filter { !$0.isEmpty }
    let engineMessage = said.isEmpty ? nil : said.joined(separator: " ")
    func error(_ code: Code, _ message: String, fix: String? = nil) -> PersistenceError {
      PersistenceError(code, at: place, message, engineMessage: engineMessage, fix: fix)
    }
    switch failure.state {
    case "55P03":
      self = error(
        .storeBusy, "Another program has locked rows or tables of the store.",
        fix: "Try again, or set a longer busyTimeout.")
    case "57014": self = error(.interrupted, "An operation on the store was interrupted.")
    case "40001", "40P01":
      self = error(.storeBusy, "Other programs wrote the same rows at the same time.", fix: "Try again.")
    case "25006":
      self = error(
        .storeReadOnly, "The server accepts no writes: it is a replica, or its transactions are read-only.",
        fix: "Connect to the primary server, or open the store for reading only.")
    case "42501":
      self = error(
        .storeOpenFailed, "The user has no right to do this.",
        fix:
          "To read and save, grant the user USAGE on the schema, SELECT, INSERT, UPDATE and DELETE on its tables, and "
          + "USAGE, SELECT and UPDATE on its sequences. To create or migrate the store, connect as their owner.")
    case "53100": self = error(.diskFull, "The server has no disk space left.", fix: "Free some space on the server.")
    case "53200":
      self = error(.limitExceeded, "The server has no memory left.", fix: "Try again with fewer objects at once.")
    case let state where state.hasPrefix("54") || state == "53400":
      self = error(
        .limitExceeded, "A statement, a row or a table exceeds a limit of the server.",
        fix: "Divide the request, store large values outside of indexed attributes, or use fewer attributes.")
    case "2BP01":
      self = error(
        .migrationFailed, "Other objects of the database, such as views, depend on the store's tables.",
        fix: "Drop them first, and create them again afterward.")
    case "53300":
      self = error(
        .storeBusy, "The server has no connection left.",
        fix: "Try again, or raise its max_connections, or the limit of the user or the database.")
    // A table or column that was there when the store was opened. Another type of a column is 0A000, like everything
    // that the server doesn't support: the store is then compared with the one opened.
    case "42P01", "42703", "3F000":
      self = error(
        .incompatibleModel, "Another program has migrated, replaced or deleted the store.",
        fix: "Open the store again, with the model that it has now.")
    case "23503":
      self = error(
        .objectNotFound, "The save refers to an object that another program has deleted, or the reverse.",
        fix: "Refresh the objects, and give the relationship another object.")
    case let state where state.hasPrefix("23"):
      self = error(.constraintConflict, "A constraint of the database is violated.")
    case let state where state.hasPrefix("28") || state == "3D000":
      self = error(
        .storeOpenFailed, "The server refused the connection.",
        fix: "Check the user, the password and the database's name.")
    case "08001":
      self = error(
        .storeOpenFailed, "No server could be reached.",
        fix: "Check the host and the port, and that the server is running and accepts connections from here.")
    case "08007":
      self = error(
        .saveFailed, "The connection was lost during a commit, and whether it took place isn't known.",
        fix: "Look at what is stored before trying again.")
    case "25P03":
      self = error(
        .connectionLost,
        "The server ended the transaction, because the program sent no statement for too long"
          + work.consequence, fix: "Try again.")
    case let state where state.hasPrefix("08") || state.hasPrefix("57P") || failure.isDisconnected:
      self = error(
        .connectionLost, "The connection to the server was lost\(work.consequence)",
        fix: "Try again; the next operation connects anew.")
    default:
      self = error(.serverFailed, "The server failed to run a statement.")
    }
  }
}
