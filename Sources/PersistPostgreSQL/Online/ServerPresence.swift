import Persist

/// Shows the other programs of a store that this one uses it with a certain model, as long as the store serves two.
///
/// A connection of its own holds a lock that any number of programs can share. If the program ends in any way, the
/// server releases the lock.
///
/// With a pooler that gives each transaction another connection, such locks don't work; see the documentation of
/// `PersistOnlineMigrations`.
final class ServerPresence: Sendable {
  private let connection: LockProtected<HeldConnection>
  /// The digest of the model.
  let model: String

  // Sendable: the connection is used by the thread that creates it, and then only examined and closed within the lock.
  private struct HeldConnection: @unchecked Sendable { var connection: (any ServerConnection)? }

  /// - Throws: ``ServerFailure``.
  convenience init(_ pool: ServerPool, _ model: ManagedObjectModel) throws {
    try self.init(pool, digest: Self.digest(of: model))
  }

  fileprivate init(_ pool: ServerPool, digest: String) throws {
    let address = pool.address
    let connection = try ServerDrivers.current.connect(to: address, waitingAtMost: pool.options.busyTimeout)
    model = digest
    let session = ServerSession(connection: connection, schema: address.schema, url: pool.url)
    do {
      try session.run(["SELECT pg_advisory_lock_shared(\(Self.number(of: digest, in: address.schema)))"])
    } catch {
      connection.close()
      throw error
    }
    self.connection = LockProtected(HeldConnection(connection: connection))
  }

  deinit { end() }

  /// Whether others can't see the program any longer, because the server has ended the connection.
  var hasEnded: Bool { connection.withLock { $0.connection?.hasEnded() ?? true } }

  func end() {
    connection.withLock {
      $0.connection?.close()
      $0.connection = nil
    }
  }

  /// The digest of a model's storage.
  static func digest(of model: ManagedObjectModel) -> String { model.fingerprint.bytes.prefix(8).hexadecimalDigits }

  private static func number(of digest: String, in schema: String) -> ServerText {
    "hashtextextended(\(text: "persist program \(schema) \(digest)"), 0)"
  }

  /// The programs that use a store with a model, in words. The caller holds the transaction.
  static func programs(with model: ManagedObjectModel, _ session: ServerSession) throws -> [String] {
    let number = number(of: digest(of: model), in: session.schema)
    return try session.all(
      """
      SELECT coalesce(nullif(a.application_name, ''), 'a program') || coalesce(' from ' || host(a.client_addr), '') \
      || ', connected at ' || to_char(a.backend_start, 'YYYY-MM-DD HH24:MI:SS') \
      FROM pg_locks AS l LEFT JOIN pg_stat_activity AS a ON a.pid = l.pid \
      WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 \
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
      AND ((l.classid::bigint << 32) | l.objid::bigint) = \(number) ORDER BY 1
      """
    ) { $0.text($1, 0) }
  }
}

extension ServerPool {
  /// Shows other programs, and the triggers of a store that serves two models, that this one uses a model.
  func announce(_ model: ManagedObjectModel) throws {
    do {
      let own = try ServerPresence(self, model)
      presence.withLock { $0 = own }
    } catch let failure as ServerFailure {
      throw PersistenceError(failure, at: url)
    }
  }

  /// Shows the program again after a server has restarted, or another one has taken over.
  func renewPresence() {
    guard let present = presence.withLock({ $0 }), present.hasEnded else { return }
    guard let renewed = try? ServerPresence(self, digest: present.model) else { return }
    presence.withLock { if $0 === present { $0 = renewed } }
  }

  /// The digest of the announced model; nil unless the store serves two models.
  var announcedModel: String? { presence.withLock { $0?.model } }

  /// Follows the beginning or the end of an online migration while the store is open.
  func follow(isExpanded: Bool, _ model: ManagedObjectModel) {
    let isAnnounced = announcedModel != nil
    if isExpanded, !isAnnounced {
      // The store can be used without the announcement.
      try? announce(model)
    } else if !isExpanded, isAnnounced {
      presence.withLock { $0 = nil }
    }
  }
}
