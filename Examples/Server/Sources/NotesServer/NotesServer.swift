import Foundation
import Hummingbird
import Notes
import Persist
import PersistPostgreSQL
import ServiceLifecycle

/// Serves notes until it gets SIGTERM or SIGINT: then it accepts no more requests, answers those that it has, and
/// closes the store.
///
/// `NOTES_FOLDER` is where the store and its backups are, `NOTES_PORT` the port on this machine. If `NOTES_DATABASE` is
/// the URL of a PostgreSQL database, the store is there, and `NOTES_REPLICA` may be the URL of a replica.
@main
struct NotesServer {
  static func main() async throws {
    let environment = Environment()
    let folder = URL(fileURLWithPath: environment.get("NOTES_FOLDER") ?? "notes", isDirectory: true)
    let backups = folder.appendingPathComponent("Backups", isDirectory: true)
    try FileManager.default.createDirectory(at: backups, withIntermediateDirectories: true)
    let notes = try NoteStore(at: location(environment, in: folder), replicas: replicas(environment))

    let router = Router()
    router.add(middleware: ErrorResponses())
    router.get("health") { _, _ in HTTPResponse.Status.ok }
    NoteRoutes(notes: notes, backups: backups).add(to: router)

    let port = environment.get("NOTES_PORT", as: Int.self) ?? 8080
    let application = Application(
      router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
      services: [StoreClosing(notes: notes)])
    try await application.runService()
  }

  private static func location(_ environment: Environment, in folder: URL) throws -> StoreLocation {
    if let database = environment.get("NOTES_DATABASE") { return try .postgreSQL(database) }
    return .file(folder.appendingPathComponent("Notes.sqlite"))
  }

  private static func replicas(_ environment: Environment) throws -> [StoreLocation] {
    try environment.get("NOTES_REPLICA").map { [try .postgreSQL($0)] } ?? []
  }
}

/// Closes the store after the last answer. Services end in the reverse of the order in which they were started, and the
/// server starts last.
private struct StoreClosing: Service {
  let notes: NoteStore

  func run() async throws {
    try? await gracefulShutdown()
    try notes.close()
  }
}
