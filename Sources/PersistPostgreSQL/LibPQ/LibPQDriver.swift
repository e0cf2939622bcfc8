import CPostgreSQL
import Foundation
public import Persist

/// The driver that uses libpq.
struct LibPQDriver: ServerDriver {
  func connect(to address: ServerAddress, _ patience: ServerPatience) throws -> any ServerConnection {
    try LibPQConnection(address, patience)
  }
}

extension StoreLocation {
  /// A store in a schema of a PostgreSQL database.
  ///
  /// ```swift
  /// import Persist
  /// import PersistPostgreSQL
  ///
  /// try coordinator.addStore(.postgreSQL("postgresql://shop@db.example.com/shop"), options: .automaticMigration)
  /// ```
  ///
  /// Settings that the connection string omits come from libpq's environment variables, such as `PGPASSWORD` and
  /// `PGSSLMODE`, and from its password file. The password appears neither in errors nor in ``StoreInfo``.
  ///
  /// - Parameters:
  ///   - connection: A URL or keywords and values, as libpq accepts them. A URL's query may name the schema, such as
  ///     `?schema=shop`.
  ///   - schema: The schema that contains the store, which is created with it; `persist` if neither this nor the URL
  ///     names one. PostgreSQL limits names to 63 bytes.
  /// - SeeAlso: <https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING>
  public static func postgreSQL(_ connection: String, schema: String? = nil) throws -> StoreLocation {
    ServerEngines.register(PostgreSQLEngine())
    return .server(try ServerAddress(connectionString: connection, schema: schema))
  }
}

extension ServerAddress {
  /// - Throws: ``PersistenceError/Code/invalidRequest`` for a string that libpq doesn't understand, and for a name that
  ///   no schema can have.
  init(connectionString: String, schema: String?) throws {
    var text = connectionString
    var own: String?
    // libpq only knows the schemes in lower case.
    if let scheme = text.prefixMatch(of: /[A-Za-z]+:\/\//) {
      text.replaceSubrange(scheme.range, with: scheme.output.lowercased())
    }
    // libpq ends the password at the first / or @.
    text = ServerURL.encodingCredentials(of: text)
    // libpq rejects settings that it doesn't know, and the schema is Persist's.
    if let match = text.firstMatch(of: /([?&])schema=([^&]*)(&?)/) {
      own = String(match.2).removingPercentEncoding ?? String(match.2)
      text.replaceSubrange(match.range, with: match.3.isEmpty ? "" : String(match.1))
    }
    var message: UnsafeMutablePointer<CChar>?
    guard let options = PQconninfoParse(text, &message) else {
      let reason = message.map { ": " + Self.withoutSecrets(String(cString: $0)) } ?? ""
      PQfreemem(message)
      throw PersistenceError(
        .invalidRequest, "The connection string can't be read\(reason).",
        fix: "Write it as 'postgresql://user@host/database', or as keywords and values.")
    }
    defer { PQconninfoFree(options) }
    var settings: [String: String] = [:]
    var option = options
    while let keyword = option.pointee.keyword {
      if let value = option.pointee.val { settings[String(cString: keyword)] = String(cString: value) }
      option += 1
    }
    self.init(settings: settings, schema: schema ?? own ?? Self.defaultSchema)
    try requireValidSchema()
  }

  /// libpq quotes the string that it couldn't read, which may contain a password.
  private static func withoutSecrets(_ message: String) -> String {
    // From the first quotation mark to the last one, in every language: the password may contain some.
    message.replacing(/["“”„«»‘’‚‹›「」『』].*["“”„«»‘’‚‹›「」『』]/.dotMatchesNewlines(), with: "\"…\"")
      .trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
