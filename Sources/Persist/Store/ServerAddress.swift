package import Foundation

/// The place of a store on a database server; the product `PersistPostgreSQL` creates it from a connection string.
public struct ServerAddress: Sendable, Hashable {
  /// The settings of the connection by libpq's names, such as `host` and `dbname`, including the password.
  package var settings: [String: String]
  /// The schema that contains the store.
  package var schema: String

  package init(settings: [String: String], schema: String) {
    self.settings = settings
    self.schema = schema
  }

  /// The default schema of a store.
  package static let defaultSchema = "persist"

  /// The greatest length of a schema's name in bytes. The server cuts off the rest.
  private static let schemaLimit = 63

  /// - Throws: ``PersistenceError/Code/invalidRequest`` if the schema's name is empty or too long.
  package func requireValidSchema() throws {
    let length = schema.utf8.count
    guard length == 0 || length > Self.schemaLimit else { return }
    throw PersistenceError(
      .invalidRequest, at: .store(url(showingSecrets: false)),
      length == 0
        ? "The name of the schema is empty."
        : "The name of the schema has \(length) bytes; PostgreSQL's limit is \(Self.schemaLimit).",
      fix: "Choose another name.")
  }
}

extension ServerAddress: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The URL without the password.
  public var description: String { url(showingSecrets: false)?.absoluteString ?? "a server" }
  public var debugDescription: String { description }
  /// The URL without the password, which no dump shows.
  public var customMirror: Mirror { Mirror(self, children: ["url": description], displayStyle: .struct) }
}

extension ServerAddress {
  /// The schemes of the URLs of servers.
  package static let schemes: Set<String> = ["postgresql", "postgres"]
  /// The query item of a URL that names the schema; all others are settings of the connection.
  private static let schemaItem = "schema"

  /// Nil for a URL of another kind.
  package init?(_ url: URL) {
    guard let scheme = url.scheme?.lowercased(), Self.schemes.contains(scheme),
      let parts = URLComponents(string: ServerURL.encodingCredentials(of: url.absoluteString))
    else { return nil }
    var settings: [String: String] = Dictionary()
    settings["host"] = parts.host.flatMap { $0.isEmpty ? nil : Self.withoutBrackets($0) }
    settings["port"] = parts.port.map(String.init)
    settings["user"] = parts.user
    settings["password"] = parts.password
    let name = parts.path.dropFirst()
    if !name.isEmpty { settings["dbname"] = String(name) }
    for item in parts.queryItems ?? [] { settings[item.name] = item.value }
    let schema = settings.removeValue(forKey: Self.schemaItem)
    self.init(settings: settings, schema: schema ?? Self.defaultSchema)
  }

  /// The host without the brackets that enclose an IPv6 address in a URL.
  private static func withoutBrackets(_ host: String) -> String {
    host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
  }

  /// The address as a URL.
  ///
  /// Settings that only the query of a URL can contain become query items, which libpq understands too: the directory
  /// of a socket, the ports of several hosts.
  ///
  /// - Parameter showingSecrets: Whether the password is included.
  package func url(showingSecrets: Bool) -> URL? {
    var parts = URLComponents()
    parts.scheme = "postgresql"
    var rest = settings
    func take(_ name: String, if isPart: (String) -> Bool) -> String? {
      guard let value = rest[name], isPart(value) else { return nil }
      rest[name] = nil
      return value
    }
    if !showingSecrets { for name in ServerURL.secrets { rest[name] = nil } }
    parts.host = take("host", if: Self.isPlainHost) ?? ""
    parts.port = take("port") { UInt16($0).map(String.init) == $0 }.flatMap { Int($0) }
    parts.user = take("user") { !$0.isEmpty && !$0.utf8.contains(UInt8(ascii: ":")) }
    if parts.user != nil { parts.password = take("password") { !$0.isEmpty } }
    parts.path = "/" + (take("dbname") { !$0.isEmpty } ?? "")
    // An @ would make what comes before it a user and a password.
    parts.percentEncodedPath = parts.percentEncodedPath.replacing("@", with: "%40")
    rest[Self.schemaItem] = schema
    parts.queryItems = rest.sorted(on: \.key).map { URLQueryItem(name: $0.key, value: $0.value) }
    return parts.url
  }

  /// Whether a setting consists of host names or IPv4 addresses.
  private static func isPlainHost(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"),
          UInt8(ascii: ","):
          true
        default: false
        }
      }
  }
}
