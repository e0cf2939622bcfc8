import Foundation
import Persist
import Tracing

/// The names of a store in spans and metrics.
struct StoreName: Sendable, Hashable {
  /// The database system, as OpenTelemetry names it.
  let system: String
  /// The name of the store's file without its folder, or the database and schema of a server.
  let namespace: String
  /// The server's host and port; nil for a file.
  private var server: String?, port: Int?

  init(_ store: any PersistentStore) { self.init(store.url.map(StoreLocation.init) ?? .memory) }

  init(_ location: StoreLocation) {
    switch location {
    case .memory: (system, namespace) = ("sqlite", ":memory:")
    case .file(let url): (system, namespace) = ("sqlite", url.lastPathComponent)
    case .server(let address):
      system = "postgresql"
      namespace = [address.settings["dbname"], address.schema].compactMap { $0 }.joined(separator: "|")
      (server, port) = (address.settings["host"], address.settings["port"].flatMap { Int($0) })
    }
  }

  func describe(in attributes: inout SpanAttributes) {
    attributes["db.system.name"] = system
    attributes["db.namespace"] = namespace
    if let server { attributes["server.address"] = server }
    if let port { attributes["server.port"] = port }
  }
}
