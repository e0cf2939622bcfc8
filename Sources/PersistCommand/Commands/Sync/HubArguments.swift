import ArgumentParser
import Foundation
import Persist
import PersistInspection
import PersistSync
import PersistSyncHTTP

/// The hub of a command: a folder, a store or a server.
struct HubArguments: ParsableArguments {
  /// The variable with the header field `Authorization`, which arguments would show to other users of the machine.
  private static let authorization = "PERSIST_HUB_AUTHORIZATION"

  @Argument(
    help: """
      The hub: a folder, which 'sync' creates; the file of a store; postgresql://USER@HOST/DATABASE?schema=NAME; or \
      https://HOST/PATH, with the authorization in PERSIST_HUB_AUTHORIZATION.
      """)
  var hub: String

  @Option(
    help: ArgumentHelp("A header field for a hub over HTTP, such as 'X-Household: 7'.", valueName: "name: value"))
  var header: [String] = []

  func validate() throws {
    _ = try headers()
    guard header.isEmpty || isServer else { throw ValidationError("--header is for hubs over HTTP.") }
  }

  private var isServer: Bool {
    ["http://", "https://"].contains { hub.lowercased().hasPrefix($0) }
  }

  private func headers() throws -> [String: String] {
    var headers: [String: String] = [:]
    for text in header {
      let parts = text.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
      guard parts.count == 2, !parts[0].isEmpty else {
        throw ValidationError("--header takes a name and a value, such as 'X-Household: 7', not '\(text)'.")
      }
      headers[parts[0]] = parts[1]
    }
    if let value = ProcessInfo.processInfo.environment[Self.authorization] { headers["Authorization"] = value }
    return headers
  }

  /// Opens the hub.
  ///
  /// - Parameters:
  ///   - registry: The versions that the model of a store may have.
  ///   - isReadOnly: Whether nothing is created or changed.
  func open(_ registry: ModelRegistry? = nil, isReadOnly: Bool = false) throws -> any SyncHub {
    if isServer {
      guard let url = URL(string: hub), url.host?.isEmpty == false else {
        throw ValidationError("'\(hub)' isn't a URL of a server.")
      }
      let headers = try headers()
      return HTTPHub(url) { headers }
    }
    if let scheme = hub.firstMatch(of: /^([a-z][a-z0-9+.-]*):\/\//)?.1.description,
      !["postgresql", "postgres", "file"].contains(scheme)
    {
      throw PersistenceError(
        .invalidRequest, "The URL scheme '\(scheme)' isn't supported.",
        fix: "Name a folder, the file of a store, postgresql://USER@HOST/DATABASE?schema=NAME or https://HOST/PATH.")
    }
    let url = try StoreArgument.url(hub)
    guard url.isFileURL else { return try storeHub(url, registry: registry, isReadOnly: isReadOnly) }
    var isFolder: ObjCBool = false
    let exists = FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
    if exists, !isFolder.boolValue { return try storeHub(url, registry: registry, isReadOnly: isReadOnly) }
    guard exists || !isReadOnly else {
      throw PersistenceError(
        .fileAccess, "The folder '\(hub)' doesn't exist.", fix: "Name the hub that replicas synchronize with.")
    }
    return FolderHub(url)
  }

  private func storeHub(_ url: URL, registry: ModelRegistry?, isReadOnly: Bool) throws -> StoreHub {
    try StoreHub(StoreArgument.coordinator(url, registry, isReadOnly: isReadOnly))
  }
}

extension StoreArgument {
  /// Opens an existing store, with a history if it can be switched on.
  static func coordinator(
    _ url: URL, _ registry: ModelRegistry?, isReadOnly: Bool = false
  ) throws -> PersistentStoreCoordinator {
    let location = StoreLocation(url)
    let model = try location.engine.identifyStore(at: location, registry: registry).model
    let coordinator = PersistentStoreCoordinator(model: model, registry: registry)
    var options = StoreOptions()
    options.tracksHistory = !isReadOnly
    options.isReadOnly = isReadOnly
    options.createsIfMissing = false
    try coordinator.addStore(location, options: options)
    return coordinator
  }
}
