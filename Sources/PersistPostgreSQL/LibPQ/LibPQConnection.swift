import CPostgreSQL
import Persist
import Foundation
import Synchronization

/// A connection of libpq, in binary form and with all statements of a call in one pipeline.
///
/// - SeeAlso: <https://www.postgresql.org/docs/current/libpq-pipeline-mode.html>
final class LibPQConnection: ServerConnection {
  private let channel: LibPQChannel
  private var handle: OpaquePointer { channel.handle }
  /// The names of prepared statements, by their text.
  private var prepared: [String: String] = [:]
  private var nextName = 1
  /// Whether the server may have prepared statements that aren't in ``prepared``.
  private var hasForgotten = false
  /// Whether there is a pooler between the program and the server; nil before the first flight.
  private var poolerIsBetween: Bool?
  /// The cancellers that may still be in use.
  private var cancellers: [Canceller] = []
  /// The maximum number of statements that the server keeps for one connection.
  private static let preparedCapacity = 500

  init(_ address: ServerAddress, _ patience: ServerPatience) throws {
    channel = try LibPQChannel(address, patience)
    do {
      try ServerVersion(number: Int(PQserverVersion(handle))).requireSupported()
      // A pooler may not report it.
      if let name = PQparameterStatus(handle, "server_encoding") {
        try ServerEncoding(name: String(cString: name)).requireSupported()
      }
      try endLostSessions()
    } catch {
      close()
      throw error
    }
  }

  deinit { close() }

  func close() { channel.close() }

  var isOpen: Bool { channel.isOpen }

  func hasEnded() -> Bool {
    // A pending cancellation may arrive late and end another statement.
    guard isOpen, !cancellers.contains(where: \.isPending) else { return true }
    // An idle connection has something to read if it has ended, and before that a notice perhaps.
    while !SocketEvents.wait(for: .readable, of: PQsocket(handle), atMost: .zero).isEmpty {
      guard PQconsumeInput(handle) == 1, PQstatus(handle) == CONNECTION_OK else { return true }
    }
    return false
  }

  var isInTransaction: Bool {
    guard !channel.isClosed else { return false }
    return [PQTRANS_INTRANS, PQTRANS_INERROR, PQTRANS_ACTIVE].contains(PQtransactionStatus(handle))
  }

  var cancel: @Sendable () -> Void {
    guard !channel.isClosed, let key = PQgetCancel(handle) else { return {} }
    let canceller = Canceller(key, limit: channel.patience.silence)
    cancellers = cancellers.filter(\.isPending) + [canceller]
    return { canceller.cancel() }
  }

  var whileWaiting: (() -> Bool)? {
    didSet {
      channel.whileWaiting = whileWaiting.map { shouldContinue in
        return { [weak self] in
          guard let self, !shouldContinue() else { return }
          self.whileWaiting = nil
          self.cancel()
        }
      }
    }
  }

  func waitForNotification(_ time: Duration) throws -> Bool {
    guard isOpen else { throw channel.lost() }
    if takeNotifications() { return true }
    guard !SocketEvents.wait(for: .readable, of: PQsocket(handle), atMost: time).isEmpty else { return false }
    guard PQconsumeInput(handle) == 1, PQstatus(handle) == CONNECTION_OK else { throw channel.lost() }
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

  // MARK: The server's process

  /// Ends the sessions of connections that were lost before.
  private func endLostSessions() throws {
    let lost = LostSessions.all.take(channel.address.settings)
    guard !lost.isEmpty else { return }
    do {
      _ = try run(lost.map(\.ending))
    } catch let failure as ServerFailure {
      // Other failures are ignored: the user may not have the right to do this.
      guard failure.isDisconnected else { return }
      for session in lost { LostSessions.all.insert(session, channel.address.settings) }
      throw failure
    }
  }

  /// Asks for the server's process, in a part of the first flight for itself.
  private func askForProcess() throws {
    let lockWait = channel.patience.lockWait.map(ServerText.lockTimeout) ?? 0
    let isSent = Self.withStrings(["\(PQbackendPID(handle))", "\(lockWait)"]) { values in
      PQsendQueryParams(handle, ServerProcess.introduction, 2, nil, values, nil, nil, 1)
    }
    guard isSent == 1, PQpipelineSync(handle) == 1 else { throw channel.lost() }
  }

  private func receiveProcess() throws {
    // A pooler reports a number of its own as that of the server's process.
    let answer = try? receive([.statement]).first
    guard isOpen else { throw channel.lost() }
    let process = answer?.integer(0, 0)
    poolerIsBetween = process != Int64(PQbackendPID(handle))
    if poolerIsBetween == false, let answer { channel.session = ServerProcess(answer) }
  }

  // MARK: Statements

  func run(_ statements: [ServerStatement]) throws -> [any ServerResult] {
    guard isOpen else { throw channel.lost() }
    guard PQenterPipelineMode(handle) == 1 else { throw channel.lost() }
    let isFirst = poolerIsBetween == nil
    if isFirst { try askForProcess() }
    let discards = try discardForgotten()
    var expected: [Message] = []
    for statement in statements { try send(statement, &expected) }
    guard PQpipelineSync(handle) == 1 else { throw channel.lost() }
    try channel.flush()
    if isFirst { try receiveProcess() }
    let results: [any ServerResult]
    do {
      // A failure of this part must not prevent receiving the results of the other one.
      let discarding = Result { if discards { _ = try receive([.discarding]) } }
      results = try receive(expected)
      try discarding.get()
    } catch {
      if isOpen { _ = PQexitPipelineMode(handle) }
      throw error
    }
    guard PQexitPipelineMode(handle) == 1 else { throw channel.lost() }
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
      // Numbering continues, so no name is reused.
      for name in prepared.values {
        let text = "DEALLOCATE \(name)"
        guard PQsendQueryParams(handle, text, 0, nil, nil, nil, nil, 1) == 1 else { throw channel.lost() }
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
  /// statements. It is a part of the flight for itself: a transaction can't choose its isolation after a statement.
  ///
  /// - Returns: Whether a part was sent, whose result comes first.
  private func discardForgotten() throws -> Bool {
    guard hasForgotten, PQtransactionStatus(handle) != PQTRANS_INERROR else { return false }
    guard PQsendQueryParams(handle, "DEALLOCATE ALL", 0, nil, nil, nil, nil, 1) == 1, PQpipelineSync(handle) == 1
    else { throw channel.lost() }
    hasForgotten = false
    return true
  }

  private func receive(_ expected: [Message]) throws -> [any ServerResult] {
    var results: [any ServerResult] = []
    var failure: ServerFailure?
    for message in expected {
      var last: LibPQResult?
      while let result = try channel.nextResult() {
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
    while let result = try channel.nextResult() {
      let isEnd = PQresultStatus(result) == PGRES_PIPELINE_SYNC
      PQclear(result)
      if isEnd { break }
    }
    guard PQstatus(handle) == CONNECTION_OK else { throw disconnected(by: failure) }
    if let failure {
      if !prepared.isEmpty, Self.mayConcernPrepared(failure) { forgetPrepared() }
      throw failure
    }
    return results
  }

  func copy(_ statement: String, _ bytes: [UInt8]) throws {
    guard isOpen, PQsendQuery(handle, statement) == 1 else { throw channel.lost() }
    try channel.flush()
    guard let start = try channel.nextResult() else { throw channel.lost() }
    defer { PQclear(start) }
    guard PQresultStatus(start) == PGRES_COPY_IN else {
      let failure = Self.failure(start, isDisconnected: PQstatus(handle) != CONNECTION_OK)
      while let result = try channel.nextResult() { PQclear(result) }
      throw failure
    }
    // After an error, the server ignores the rest.
    for offset in stride(from: 0, to: bytes.count, by: Self.copiedPart) {
      let end = min(offset + Self.copiedPart, bytes.count)
      let isAccepted = bytes.withUnsafeBytes { bytes in
        UnsafeRawBufferPointer(rebasing: bytes[offset..<end]).withMemoryRebound(to: CChar.self) {
          PQputCopyData(handle, $0.baseAddress, Int32($0.count)) == 1
        }
      }
      guard isAccepted else { throw channel.lost() }
      // Without flushing, libpq would keep all parts in memory.
      try channel.flush()
    }
    guard PQputCopyEnd(handle, nil) == 1 else { throw channel.lost() }
    try channel.flush()
    var failure: ServerFailure?
    while let result = try channel.nextResult() {
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
    guard let failure else { return channel.lost() }
    if failure.state.isEmpty { channel.registerLoss() }
    return ServerFailure(
      state: failure.state, message: failure.message, constraint: failure.constraint, isDisconnected: true)
  }

  /// The error of a statement that libpq didn't send: it exceeds a limit, unless the connection is lost. The part
  /// of the pipeline that was sent can't be completed, so the connection is closed.
  private func unsent() -> ServerFailure {
    let isLost = !isOpen
    let failure = ServerFailure(
      state: isLost ? "08006" : "54000", message: channel.message, isDisconnected: isLost)
    close()
    return failure
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
