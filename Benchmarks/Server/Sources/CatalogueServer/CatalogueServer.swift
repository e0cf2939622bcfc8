import ArgumentParser
import Foundation
import HTTPTypes
import Hummingbird
import Logging

/// Serves a catalogue of items over one of the contestants, until it gets SIGTERM or SIGINT.
@main
struct CatalogueServer: ParsableCommand {
  enum Contestant: String, ExpressibleByArgument, CaseIterable { case persist, grdb }

  static let configuration = CommandConfiguration(abstract: "Serves a catalogue of items over one of two libraries.")

  @Option(help: "The library that reads and writes the file.")
  var contestant = Contestant.persist

  @Option(help: "The port on this machine.")
  var port = 8080

  @Option(help: "SQLite's pragma synchronous.")
  var synchronous = "NORMAL"

  @Flag(help: "Create the file with its content, and end.")
  var fill = false

  @Argument(help: "The file.", transform: { URL(fileURLWithPath: $0) })
  var file: URL

  func run() throws {
    if fill { return try Sample.fill(file) }
    let (catalogue, port) = (try catalogue(), port)
    // The main thread waits, because Valgrind doesn't survive its end, with which an asynchronous main function begins.
    let end = DispatchSemaphore(value: 0)
    Task.detached {
      defer { end.signal() }
      try await Self.serve(catalogue, port)
    }
    end.wait()
  }

  private static func serve(_ catalogue: any Catalogue, _ port: Int) async throws {
    let router = Router(context: JSONContext.self)
    router.get("health") { _, _ in HTTPResponse.Status.ok }
    Routes(catalogue: catalogue).add(to: router)
    var logger = Logger(label: "CatalogueServer")
    logger.logLevel = .warning
    let application = Application(
      router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
      logger: logger)
    do {
      try await application.runService()
    } catch {
      logger.error("\(error)")
      throw error
    }
  }

  private func catalogue() throws -> any Catalogue {
    switch contestant {
    case .persist: try PersistCatalogue(file, synchronous: synchronous)
    case .grdb: try GRDBCatalogue(file, synchronous: synchronous)
    }
  }
}
