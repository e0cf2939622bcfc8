import Foundation
package import Persist

/// The program's part of a database server's protocol: it connects, sends statements and returns rows.
package protocol ServerDriver: Sendable {
  /// Connects to a server.
  ///
  /// - Parameter patience: The times after which the network counts as quiet.
  /// - Throws: ``ServerFailure``.
  func connect(to address: ServerAddress, _ patience: ServerPatience) throws -> any ServerConnection
}

extension ServerDriver {
  /// Connects to a server on behalf of an operation.
  ///
  /// Of several hosts, it is the one that accepts writes, unless the address says otherwise. While none does, because
  /// another one is about to take over, for example, the operation waits.
  ///
  /// - Parameters:
  ///   - wait: The maximum time that the operation should wait.
  ///   - limitsLocks: Whether its statements wait no longer for locks, either.
  /// - Throws: ``ServerFailure``.
  package func connect(
    to address: ServerAddress, waitingAtMost wait: Duration = StoreOptions().busyTimeout,
    limitingLocks limitsLocks: Bool = false
  ) throws -> any ServerConnection {
    let patience = ServerPatience(busyTimeout: wait, limitingLocks: limitsLocks)
    guard address.hasSeveralHosts else { return try connect(to: address, patience) }
    let (chosen, deadline) = (address.ofPrimary, ContinuousClock.now + wait)
    while true {
      do { return try connect(to: chosen, patience) } catch let failure as ServerFailure
        where failure.state == ServerFailure.noServer && ContinuousClock.now < deadline
      {
        Thread.sleep(forTimeInterval: Double.random(in: 0.02...0.06))
      }
    }
  }
}

/// A connection to a server, which one thread uses at a time.
package protocol ServerConnection: AnyObject {
  /// Sends statements together and waits for all of their results, so that they take one round trip.
  ///
  /// The statements are one unit: after the first that fails, none is run, and the transaction around them, if any, can
  /// only be rolled back.
  ///
  /// - Returns: A result for each statement.
  /// - Throws: ``ServerFailure`` of the first statement that failed.
  func run(_ statements: [ServerStatement]) throws -> [any ServerResult]
  /// Copies rows into a table.
  ///
  /// - Parameters:
  ///   - statement: A `COPY … FROM STDIN` without parameters.
  ///   - bytes: The rows in the form that the statement names.
  /// - Throws: ``ServerFailure``.
  func copy(_ statement: String, _ bytes: [UInt8]) throws
  /// Called about forty times a second, on the thread that waits for statements of ``run(_:)``, until it returns false.
  /// They are then canceled.
  var whileWaiting: (() -> Bool)? { get set }
  /// Waits for a notification of a channel that the connection listens to.
  ///
  /// - Returns: Whether there was one within the time; several in quick succession count as one.
  /// - Throws: ``ServerFailure`` if the connection is lost.
  func waitForNotification(_ time: Duration) throws -> Bool
  /// Whether the connection is open, as far as is known without asking the server.
  var isOpen: Bool { get }
  /// Checks without a round trip whether the other side has ended the connection. Called between flights.
  func hasEnded() -> Bool
  /// Whether a pooler between the program and the server gives each transaction another connection, so that
  /// neither prepared statements nor notifications can be relied on. False until the first statements have succeeded.
  var isPooled: Bool { get }
  /// Whether a transaction is open on the connection.
  var isInTransaction: Bool { get }
  /// Cancels the running statement, from any thread.
  var cancel: @Sendable () -> Void { get }
  func close()
}

/// A statement with its parameters.
package struct ServerStatement: Sendable {
  /// With `$1`, `$2` … for the parameters, each with a cast to its type.
  package let text: String
  package let parameters: [ServerParameter]
  /// Whether the statement is run often, so that the server should keep it prepared.
  package let isReused: Bool

  package init(_ text: String, _ parameters: [ServerParameter] = [], isReused: Bool = false) {
    self.text = text
    self.parameters = parameters
    self.isReused = isReused
  }
}

extension ServerStatement {
  /// Reads the number of the server's process that runs the statement.
  package static let processNumber = ServerStatement("SELECT pg_backend_pid()")
}

/// The value of a parameter in the server's binary form.
package struct ServerParameter: Sendable {
  /// The types of parameters; the raw values are PostgreSQL's numbers of its built-in types.
  package enum ValueType: UInt32, Sendable {
    case boolean = 16
    case integer = 20
    case int16 = 21
    case int32 = 23
    case double = 701
    case text = 25
    case bytes = 17
    case uuid = 2950
    case booleans = 1000
    case integers = 1016
    case int16s = 1005
    case int32s = 1007
    case uuids = 2951
    case doubles = 1022
    case texts = 1009
    case byteStrings = 1001
    case moment = 1184
    case moments = 1185
  }

  package let type: ValueType
  /// Nil for null.
  package let bytes: [UInt8]?
}

/// The rows that a statement returned, in the server's binary form. It may be read by any thread.
package protocol ServerResult: AnyObject {
  var rowCount: Int { get }
  /// The number of rows that an insert, update or delete changed.
  var changedRowCount: Int { get }
  /// The value in a row and a column, both from 0; nil for null. Valid as long as the result exists.
  func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer?
}

/// An error that a server or its driver reported.
package struct ServerFailure: Error, Sendable {
  /// The five characters of SQL's classification; empty if the driver found the error.
  ///
  /// - SeeAlso: <https://www.postgresql.org/docs/current/errcodes-appendix.html>
  package let state: String
  package let message: String
  /// The violated constraint, if any.
  package let constraint: String?
  /// Whether the connection can't be used any longer.
  package let isDisconnected: Bool

  /// The state of a failure to reach a server that can be used.
  static let noServer = "08001"

  package init(state: String, message: String, constraint: String? = nil, isDisconnected: Bool = false) {
    self.state = state
    self.message = message
    self.constraint = constraint
    self.isDisconnected = isDisconnected
  }
}
