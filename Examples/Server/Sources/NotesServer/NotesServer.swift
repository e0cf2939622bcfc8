import Configuration
import Foundation
import Hummingbird
import Notes
import Persist
import PersistObservability
import PersistPostgreSQL

/// Serves notes until it gets SIGTERM or SIGINT: then it accepts no more requests, answers those that it has, and
/// closes the store.
///
/// Settings come from the environment. `NOTES_FOLDER` is where the store and its backups are, `NOTES_PORT` the port on
/// this machine. If `NOTES_DATABASE` is the URL of a PostgreSQL database, the store is there, and `NOTES_REPLICA` may be
/// the URL of a replica.
@main
struct NotesServer {
  static func main() async throws {
    let settings = ConfigReader(provider: EnvironmentVariablesProvider()).scoped(to: "notes")
    let folder = URL(fileURLWithPath: settings.string(forKey: "folder", default: "notes"), isDirectory: true)
    let backups = folder.appendingPathComponent("Backups", isDirectory: true)
    try FileManager.default.createDirectory(at: backups, withIntermediateDirectories: true)

    // Bootstrap InstrumentationSystem and MetricsSystem with the exporters of your choice before this.
    let telemetry = StoreTelemetry()
    let notes = try NoteStore(
      at: location(settings, in: folder), replicas: replicas(settings), telemetry: telemetry)

    let router = Router()
    // A span for each request, in which those of the store are.
    router.add(middleware: TracingMiddleware())
    router.add(middleware: ErrorResponses())
    router.get("health") { _, _ in HTTPResponse.Status.ok }
    router.get("ready") { _, _ in
      await notes.container.persistentStoreCoordinator.health().isReady ? HTTPResponse.Status.ok : .serviceUnavailable
    }
    NoteRoutes(notes: notes, backups: backups).add(to: router)

    // Services end in the reverse of the order in which they start, and the server starts last.
    let application = Application(
      router: router,
      configuration: ApplicationConfiguration(
        address: .hostname("127.0.0.1", port: settings.int(forKey: "port", default: 8080))),
      services: [PersistenceService(notes.container, telemetry: telemetry)])
    try await application.runService()
  }

  private static func location(_ settings: ConfigReader, in folder: URL) throws -> StoreLocation {
    if let database = settings.string(forKey: "database", isSecret: true) { return try .postgreSQL(database) }
    return .file(folder.appendingPathComponent("Notes.sqlite"))
  }

  private static func replicas(_ settings: ConfigReader) throws -> [StoreLocation] {
    try settings.string(forKey: "replica", isSecret: true).map { [try .postgreSQL($0)] } ?? []
  }
}
