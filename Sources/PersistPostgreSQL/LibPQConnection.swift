import CPostgreSQL
import Persist
import Foundation
import Synchronization

/// A connection of libpq, in binary form and with all statements of a call in one pipeline.
///
/// - SeeAlso: <https://www.postgresql.org/docs/current/libpq-pipeline-mode.html>
final class LibPQConnection: ServerConnection {
  private let handle: OpaquePointer
  /// The names of prepared statements, by their text.
  private var prepared: [String: String] = [:]
  private var nextName = 1
  /// Whether the server may have prepared statements that aren't in ``prepared``.
  private var hasForgotten = false
  private var isClosed = false
  /// Whether there is a pooler between the program and the server; nil before the first statements have succeeded.
  private var poolerIsBetween: Bool?
  /// The maximum number of statements that the server keeps for one connection.
  private static let preparedCapacity = 500

  init(_ settings: [String: String]) throws {
    var all = settings
    all["client_encoding"] = "UTF8"
    if all["application_name"] == nil { all["fallback_application_name"] = "Persist" }
    if all["connect_timeout"] == nil { all["connect_timeout"] = "10" }
    let pairs = all.sorted { $0.key < $1.key }
    guard
      let first = Self.withStrings(pairs.map(\.key), { names in
        Self.withStrings(pairs.map(\.value)) { values in PQconnectdbParams(names, values, 0) }
      })
    else { throw ServerFailure(state: "", message: "libpq has no memory for a connection.", isDisconnected: true) }
    if PQstatus(first) == CONNECTION_OK {
      handle = first
    } else {
      let message = Self.message(first)
      PQfinish(first)
      switch Self.retry(pairs) {
      case .connected(let second): handle = second
      case .failed(let state): throw ServerFailure(state: state, message: message, isDisconnected: true)
      }
    }
    do {
      try ServerVersion(number: Int(PQserverVersion(handle))).requireSupported()
      // A pooler may not report it.
      if let name = PQparameterStatus(handle, "server_encoding") {
        try ServerEncoding(name: String(cString: name)).requireSupported()
      }
    } catch {
      close()
      throw error
    }
    // Notices, such as that a table already exists, aren't for the program's output.
    PQsetNoticeProcessor(handle, { _, _ in }, nil)
  }

  deinit { close() }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    PQfinish(handle)
  }

  var isOpen: Bool { !isClosed && PQstatus(handle) == CONNECTION_OK }

  func hasEnded() -> Bool {
    guard isOpen else { return true }
    var events = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
    // An idle connection has something to read if it has ended, and before that a notice perhaps.
    while poll(&events, 1, 0) > 0 {
      guard PQconsumeInput(handle) == 1, PQstatus(handle) == CONNECTION_OK else { return true }
    }
    return false
  }

  var isInTransaction: Bool {
    guard !isClosed else { return false }
    return [PQTRANS_INTRANS, PQTRANS_INERROR, PQTRANS_ACTIVE].contains(PQtransactionStatus(handle))
  }

  var cancel: @Sendable () -> Void {
    guard !isClosed, let key = PQgetCancel(handle) else { return {} }
    let canceller = Canceller(key)
    return { canceller.cancel() }
  }

  /// A key for canceling, which libpq allows any thread to use.
  private final class Canceller: @unchecked Sendable {
    // @unchecked: the key is never changed, and PQcancel may be called by any thread.
    private let key: OpaquePointer

    init(_ key: OpaquePointer) { self.key = key }
    deinit { PQfreeCancel(key) }

    func cancel() {
      var message = [CChar](repeating: 0, count: 256)
      _ = PQcancel(key, &message, Int32(message.count))
    }
  }

  func waitForNotification(_ time: Duration) throws -> Bool {
    guard isOpen else { throw lost() }
    if takeNotifications() { return true }
    var events = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
    let milliseconds = time / .milliseconds(1)
    guard poll(&events, 1, Int32(min(max(milliseconds, 0), 1e9))) > 0 else { return false }
    guard PQconsumeInput(handle) == 1, PQstatus(handle) == CONNECTION_OK else { throw lost() }
    return takeNotifications()
  }

  /// - Returns: Whether there were any.
  private func takeNotifications() -> Bool {
    var count = 0
    while let notification = PQnotifies(handle) {
      PQfreemem(notification)
      count += 1
    }
    return count > 0
  }

  // MARK: Statements

  func run(_ statements: [ServerStatement]) throws -> [any ServerResult] {
    guard isOpen else { throw lost() }
    guard PQenterPipelineMode(handle) == 1 else { throw lost() }
    var expected: [Message] = []
    try discardForgotten(&expected)
    for statement in statements { try send(statement, &expected) }
    let asksForProcess = poolerIsBetween == nil
    if asksForProcess { try send(.processNumber, &expected) }
    guard PQpipelineSync(handle) == 1 else { throw lost() }
    var results = try receive(expected)
    // A pooler reports a number of its own as that of the server's process.
    if asksForProcess, let process = results.popLast() {
      poolerIsBetween = process.integer(0, 0) != Int64(PQbackendPID(handle))
    }
    return results
  }

  var isPooled: Bool { poolerIsBetween == true }

  /// A message that was sent.
  private enum Message: Hashable {
    /// A statement, whose result is returned.
    case statement
    /// The preparation of a statement with a text.
    case preparation(String)
    case discarding
  }

  /// - Parameter expected: The messages that were sent.
  private func send(_ statement: ServerStatement, _ expected: inout [Message]) throws {
    let isSent: Int32
    // Behind a pooler, the next transaction may run on a connection that doesn't have the prepared statement.
    if statement.isReused, poolerIsBetween == false {
      let name = try prepare(statement, &expected)
      isSent = Self.withParameters(statement.parameters) { _, values, lengths, formats in
        PQsendQueryPrepared(handle, name, Int32(statement.parameters.count), values, lengths, formats, 1)
      }
    } else {
      isSent = Self.withParameters(statement.parameters) { types, values, lengths, formats in
        PQsendQueryParams(
          handle, statement.text, Int32(statement.parameters.count), types, values, lengths, formats, 1)
      }
    }
    guard isSent == 1 else { throw unsent() }
    expected.append(.statement)
  }

  private func prepare(_ statement: ServerStatement, _ expected: inout [Message]) throws -> String {
    if let name = prepared[statement.text] { return name }
    if prepared.count >= Self.preparedCapacity {
      // The names continue, so that none is used twice.
      for name in prepared.values {
        guard PQsendQueryParams(handle, "DEALLOCATE \(name)", 0, nil, nil, nil, nil, 1) == 1 else { throw lost() }
        expected.append(.discarding)
      }
      prepared.removeAll()
    }
    let name = "persist_\(nextName)"
    nextName += 1
    let types = statement.parameters.map(\.type.rawValue)
    guard PQsendPrepare(handle, name, statement.text, Int32(types.count), types) == 1 else { throw unsent() }
    expected.append(.preparation(statement.text))
    prepared[statement.text] = name
    return name
  }

  /// Discards prepared statements that the server may still have, unless a failed transaction makes it refuse all
  /// statements.
  private func discardForgotten(_ expected: inout [Message]) throws {
    guard hasForgotten, PQtransactionStatus(handle) != PQTRANS_INERROR else { return }
    guard PQsendQueryParams(handle, "DEALLOCATE ALL", 0, nil, nil, nil, nil, 1) == 1 else { throw lost() }
    expected.append(.discarding)
    hasForgotten = false
  }

  private func receive(_ expected: [Message]) throws -> [any ServerResult] {
    var results: [any ServerResult] = []
    var failure: ServerFailure?
    for message in expected {
      var last: LibPQResult?
      while let result = PQgetResult(handle) {
        switch PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK: last = LibPQResult(result)
        case PGRES_PIPELINE_ABORTED: PQclear(result)
        default:
          if failure == nil { failure = Self.failure(result, isDisconnected: PQstatus(handle) != CONNECTION_OK) }
          PQclear(result)
        }
      }
      // The message that failed had no effect, nor had those after it.
      switch message {
      case .preparation(let text) where failure != nil: prepared[text] = nil
      case .discarding where failure != nil: hasForgotten = true
      case .statement: if let last { results.append(last) }
      case .preparation, .discarding: break
      }
      if PQstatus(handle) != CONNECTION_OK { throw disconnected(by: failure) }
    }
    // The result of the synchronization, after which the connection can be used again.
    while let result = PQgetResult(handle) {
      let isEnd = PQresultStatus(result) == PGRES_PIPELINE_SYNC
      PQclear(result)
      if isEnd { break }
    }
    guard PQstatus(handle) == CONNECTION_OK, PQexitPipelineMode(handle) == 1 else {
      throw disconnected(by: failure)
    }
    if let failure {
      if !prepared.isEmpty, Self.mayConcernPrepared(failure) { forgetPrepared() }
      throw failure
    }
    return results
  }

  func copy(_ statement: String, _ bytes: [UInt8]) throws {
    guard isOpen, let start = PQexec(handle, statement) else { throw lost() }
    defer { PQclear(start) }
    guard PQresultStatus(start) == PGRES_COPY_IN else {
      throw Self.failure(start, isDisconnected: PQstatus(handle) != CONNECTION_OK)
    }
    // After an error, the server ignores the rest.
    let isSent = bytes.withUnsafeBytes { bytes in
      stride(from: 0, to: bytes.count, by: Self.copiedPart).allSatisfy { offset in
        let part = bytes[offset..<min(offset + Self.copiedPart, bytes.count)]
        return UnsafeRawBufferPointer(rebasing: part).withMemoryRebound(to: CChar.self) {
          PQputCopyData(handle, $0.baseAddress, Int32($0.count)) == 1
        }
      }
    }
    guard isSent, PQputCopyEnd(handle, nil) == 1 else { throw lost() }
    var failure: ServerFailure?
    while let result = PQgetResult(handle) {
      if PQresultStatus(result) != PGRES_COMMAND_OK, failure == nil {
        failure = Self.failure(result, isDisconnected: PQstatus(handle) != CONNECTION_OK)
      }
      PQclear(result)
    }
    guard PQstatus(handle) == CONNECTION_OK else { throw disconnected(by: failure) }
    if let failure { throw failure }
  }

  /// The number of bytes that are passed to libpq at once.
  private static let copiedPart = 1 << 20

  /// Whether a statement may have failed because it was prepared before: tables have changed since, or the server
  /// doesn't have it.
  private static func mayConcernPrepared(_ failure: ServerFailure) -> Bool {
    ["0A", "26", "3F", "42", "XX"].contains { failure.state.hasPrefix($0) }
  }

  private func forgetPrepared() {
    prepared.removeAll()
    hasForgotten = true
  }

  /// The error of a lost connection, with the server's last words, if any: it may have announced its end.
  private func disconnected(by failure: ServerFailure?) -> ServerFailure {
    guard let failure else { return lost() }
    return ServerFailure(
      state: failure.state, message: failure.message, constraint: failure.constraint, isDisconnected: true)
  }

  /// The error of a statement that libpq didn't send: it exceeds a limit, unless the connection is lost. The part
  /// of the pipeline that was sent can't be completed, so the connection is closed.
  private func unsent() -> ServerFailure {
    let isLost = !isOpen
    let failure = ServerFailure(
      state: isLost ? "08006" : "54000", message: Self.message(handle), isDisconnected: isLost)
    close()
    return failure
  }

  private func lost() -> ServerFailure {
    ServerFailure(
      state: "08006", message: isClosed ? "The connection is closed." : Self.message(handle), isDisconnected: true)
  }

  static func message(_ handle: OpaquePointer) -> String {
    String(cString: PQerrorMessage(handle)).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  private static func failure(_ result: OpaquePointer, isDisconnected: Bool) -> ServerFailure {
    func field(_ code: Character) -> String? {
      code.asciiValue.flatMap { PQresultErrorField(result, Int32($0)) }.map { String(cString: $0) }
    }
    return ServerFailure(
      state: field("C") ?? "",
      message: [field("M"), field("D")].compactMap { $0 }.joined(separator: " "), constraint: field("n"),
      isDisconnected: isDisconnected)
  }

  // MARK: Passing values to C

  static func withStrings<T>(_ strings: [String], _ body: ([UnsafePointer<CChar>?]) -> T) -> T {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies.map { UnsafePointer($0) } + [nil])
  }

  private static func withParameters<T>(
    _ parameters: [ServerParameter],
    _ body: ([UInt32], [UnsafePointer<CChar>?], [Int32], [Int32]) -> T
  ) -> T {
    // All values in one block, because pointers into arrays of arrays aren't valid together.
    let size = parameters.reduce(0) { $0 + ($1.bytes?.count ?? 0) }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: max(size, 1)) { block in
      var offset = 0
      var values: [UnsafePointer<CChar>?] = []
      values.reserveCapacity(parameters.count)
      for parameter in parameters {
        guard let bytes = parameter.bytes, let start = block.baseAddress else {
          values.append(nil)
          continue
        }
        bytes.withUnsafeBytes { bytes in
          if let base = bytes.baseAddress {
            UnsafeMutableRawPointer(start + offset).copyMemory(from: base, byteCount: bytes.count)
          }
        }
        values.append(UnsafePointer(start + offset))
        offset += bytes.count
      }
      return body(
        parameters.map(\.type.rawValue), values, parameters.map { Int32(truncatingIfNeeded: $0.bytes?.count ?? 0) },
        parameters.map { _ in 1 })
    }
  }
}
