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
}

extension ServerAddress {
  /// The schemes of the URLs of servers.
  package static let schemes: Set<String> = ["postgresql", "postgres"]
  /// The query item of a URL that names the schema; all others are settings of the connection.
  private static let schemaItem = "schema"

  /// Nil for a URL of another kind.
  package init?(_ url: URL) {
    guard let scheme = url.scheme?.lowercased(), Self.schemes.contains(scheme),
      let parts = URLComponents(url: url, resolvingAgainstBaseURL: false)
    else { return nil }
    var settings: [String: String] = [:]
    settings["host"] = parts.host.flatMap { $0.isEmpty ? nil : $0 }
    settings["port"] = parts.port.map(String.init)
    settings["user"] = parts.user
    settings["password"] = parts.password
    let name = parts.path.drop { $0 == "/" }
    if !name.isEmpty { settings["dbname"] = String(name) }
    for item in parts.queryItems ?? [] { settings[item.name] = item.value }
    let schema = settings.removeValue(forKey: Self.schemaItem)
    self.init(settings: settings, schema: schema ?? Self.defaultSchema)
  }

  /// The address as a URL.
  ///
  /// - Parameter showingSecrets: Whether the password is included.
  package func url(showingSecrets: Bool) -> URL? {
    var parts = URLComponents()
    parts.scheme = "postgresql"
    var rest = settings
    // A directory of a socket can't be the host of a URL.
    if let host = rest["host"], !host.hasPrefix("/") {
      parts.host = host
      rest["host"] = nil
    } else {
      parts.host = ""
    }
    parts.port = rest.removeValue(forKey: "port").flatMap { Int($0) }
    parts.user = rest.removeValue(forKey: "user")
    let password = rest.removeValue(forKey: "password")
    rest["sslpassword"] = showingSecrets ? rest["sslpassword"] : nil
    if showingSecrets { parts.password = password }
    parts.path = "/" + (rest.removeValue(forKey: "dbname") ?? "")
    rest[Self.schemaItem] = schema
    parts.queryItems = rest.sorted { $0.key < $1.key }.map { URLQueryItem(name: $0.key, value: $0.value) }
    return parts.url
  }
}
