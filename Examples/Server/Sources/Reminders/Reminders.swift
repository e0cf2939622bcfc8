import Configuration
import CoreMetrics
import Foundation
import Hummingbird
import Persist
import PersistMacrosless
import PersistObservability
import PrometheusMetrics

@main
struct Reminders {
  static func main() async throws {
    // REMINDERS_STORE, REMINDERS_HOST and REMINDERS_PORT.
    let settings = ConfigReader(provider: EnvironmentVariablesProvider()).scoped(to: "reminders")
    let metrics = PrometheusMetrics()
    MetricsSystem.bootstrap(metrics)

    let telemetry = StoreTelemetry()
    var options = StoreOptions.automaticMigration
    options.pragmas = ["synchronous": "FULL"]
    options.busyTimeout = .seconds(2)
    options.telemetry = telemetry
    let store = URL(fileURLWithPath: settings.string(forKey: "store", default: "Reminders.sqlite"))
    let container = try PersistentContainer(at: store, model: ManagedObjectModel(Reminder.self), options: options)

    let router = Router()
    router.add(middleware: MetricsMiddleware())
    router.get("health") { _, _ in HTTPResponse.Status.ok }
    router.get("ready") { _, _ in
      await container.persistentStoreCoordinator.health().isReady ? HTTPResponse.Status.ok : .serviceUnavailable
    }
    router.get("metrics") { _, _ in
      Response(
        status: .ok, headers: [.contentType: PrometheusMetrics.contentType],
        body: ResponseBody(byteBuffer: ByteBuffer(string: metrics.text)))
    }
    router.get("reminders") { _, _ in
      try await container.read { context in
        try context.fetch(Reminder.all.sorted(by: \.created).limited(to: 100)).map(\.title)
      }
    }
    router.post("reminders") { request, _ in
      let body = try await request.body.collect(upTo: 1_000)
      return try await container.save(retrying: 3) { context in
        let reminder = Reminder(context: context)
        reminder.title = String(buffer: body)
        return reminder.id.uuidString
      }
    }

    // Services stop in the reverse order: the server answers its last request before the store closes.
    let application = Application(
      router: router,
      configuration: ApplicationConfiguration(
        address: .hostname(
          settings.string(forKey: "host", default: "127.0.0.1"), port: settings.int(forKey: "port", default: 8080))),
      services: [PersistenceService(container, telemetry: telemetry)])
    try await application.runService()
  }
}
