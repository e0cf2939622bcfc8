import Chores
import Foundation
import HTTPTypes
import Hummingbird
import Persist
import PersistSync
import PersistSyncHTTP

/// Serves the chores of a household to its devices.
///
/// `CHORES_FOLDER` is where the store and the change sets are, `CHORES_PORT` the port on this machine.
@main
struct ChoreServer {
  static func main() async throws {
    let environment = ProcessInfo.processInfo.environment
    let folder = URL(fileURLWithPath: environment["CHORES_FOLDER"] ?? "chores", isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let coordinator = try Chores.open(folder.appendingPathComponent("Chores.sqlite"))
    let replica = try Replica(coordinator, identifiedBy: Chores.identifiers)
    let hub = FolderHub(folder.appendingPathComponent("hub", isDirectory: true))
    // A real server does this once a day: old change sets become a snapshot.
    try await replica.compact(hub, forgetting: .seconds(90 * 86_400))

    let router = Router()
    router.get("health") { _, _ in HTTPResponse.Status.ok }
    SyncRoutes(
      server: SyncHubServer { request in
        guard let member = Members.member(request.headers["authorization"]) else { return nil }
        return try ScopedHub(hub, server: replica, user: member, scope: Chores.scope(of: member)) { change in
          change.values["title"] == .string("") ? "A chore needs a title." : nil
        }
      }
    ).add(to: router)
    let port = environment["CHORES_PORT"].flatMap(Int.init) ?? 8080
    let application = Application(
      router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)))
    try await application.runService()
  }
}

/// Who lives here. A real server checks a signature or asks a database.
enum Members {
  private static let tokens = ["Bearer ann-secret": "ann", "Bearer bob-secret": "bob"]

  static func member(_ authorization: String?) -> String? { authorization.flatMap { tokens[$0] } }
}
