import Configuration
import CoreMetrics
import Foundation
import Hummingbird
import Notes
import Persist
import PersistObservability
import PersistPostgreSQL
import PrometheusMetrics

/// Serves notes until it gets SIGTERM or SIGINT: then it accepts no more requests, answers those that it has, and
/// closes the store.
///
/// | variable | setting |
/// |---|---|
/// | `NOTES_FOLDER` | the folder of the store and its backups; `notes` by default |
/// | `NOTES_HOST`, `NOTES_PORT` | the address of the server; 127.0.0.1 and 8080 by default |
/// | `NOTES_DATABASE` | the URL of a PostgreSQL database, if the store is there |
/// | `NOTES_REPLICA` | the URL of a replica of that database |
/// | `NOTES_DEADLINE` | the time in seconds that a request may take; 2 by default |
@main
struct NotesServer {
  static func main() async throws {
    let settings = ConfigReader(provider: EnvironmentVariablesProvider()).scoped(to: "notes")
    let folder = URL(fileURLWithPath: settings.string(forKey: "folder", default: "notes"), isDirectory: true)
    let backups = folder.appendingPathComponent("Backups", isDirectory: true)
    try FileManager.default.createDirectory(at: backups, withIntermediateDirectories: true)

    // Before the first metric. Bootstrap InstrumentationSystem with the tracer of your choice here, too.
    let metrics = PrometheusMetrics()
    MetricsSystem.bootstrap(metrics)
    let telemetry = StoreTelemetry()
    let notes = try NoteStore(
      at: location(settings, in: folder), replicas: replicas(settings),
      deadline: .seconds(settings.double(forKey: "deadline", default: 2)), telemetry: telemetry)

    let router = Router()
    // A span for each request, in which those of the store are.
    router.add(middleware: TracingMiddleware())
    router.add(middleware: MetricsMiddleware())
    router.add(middleware: ErrorResponses())
    router.get("health") { _, _ in HTTPResponse.Status.ok }
    router.get("ready") { _, _ in
      let health = await notes.container.persistentStoreCoordinator.health()
      // Reads go on, so that the server is ready.
      let stalled = health.stores.map(\.stalledCommits).reduce(0, +)
      return Response(
        status: health.isReady ? .ok : .serviceUnavailable,
        body: ResponseBody(
          byteBuffer: ByteBuffer(string: stalled == 0 ? "" : "\(stalled) saves wait for a synchronous standby.\n")))
    }
    router.get("metrics") { _, _ in
      Response(
        status: .ok, headers: [.contentType: PrometheusMetrics.contentType],
        body: ResponseBody(byteBuffer: ByteBuffer(string: metrics.text)))
    }
    NoteRoutes(notes: notes, backups: backups).add(to: router)

    // Services end in the reverse of the order in which they start, and the server starts last.
    let application = Application(
      router: router,
      configuration: ApplicationConfiguration(
        address: .hostname(
          settings.string(forKey: "host", default: "127.0.0.1"), port: settings.int(forKey: "port", default: 8080))),
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
