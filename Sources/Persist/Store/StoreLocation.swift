public import Foundation

/// The place of a store.
///
/// ```swift
/// try coordinator.addStore(.file(url), options: .automaticMigration)
/// try coordinator.addStore(.postgreSQL("postgresql://shop@db.example.com/shop"), options: .automaticMigration)
/// ```
#if hasAttribute(nonexhaustive)
  @nonexhaustive(warn)
#endif
public indirect enum StoreLocation: Sendable, Hashable {
  /// A store that lives as long as it is open.
  case memory
  /// A store in an SQLite file.
  case file(URL)
  /// A store on a database server. The product `PersistPostgreSQL` creates the address.
  case server(ServerAddress)

  /// - Parameter url: A file or the URL of a server; nil for a store in memory, or `/dev/null`, as in Core Data.
  package init(_ url: URL?) {
    guard let url, !(url.isFileURL && url.path == "/dev/null") else {
      self = .memory
      return
    }
    self = ServerAddress(url).map { .server($0) } ?? .file(url)
  }

  /// Nil for a store in memory. It contains the password of a server.
  package var url: URL? {
    switch self {
    case .memory: nil
    case .file(let url): url
    case .server(let address): address.url(showingSecrets: true)
    }
  }
}
