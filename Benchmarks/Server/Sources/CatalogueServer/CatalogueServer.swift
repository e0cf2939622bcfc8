import ArgumentParser
import Foundation
import Hummingbird
import Logging

/// Serves a catalogue of items over one of the contestants, or from memory, until it gets SIGTERM or SIGINT.
@main
struct CatalogueServer: AsyncParsableCommand {
  enum Contestant: String, ExpressibleByArgument, CaseIterable { case persist, grdb, memory }

  static let configuration = CommandConfiguration(abstract: "Serves a catalogue of items over one of two libraries, or from memory.")

  @Option(help: "What reads and writes the file; memory reads it once.")
  var contestant = Contestant.persist

  @Option(help: "The port on this machine.")
  var port = 8080

  @Option(help: "SQLite's pragma synchronous.")
  var synchronous = "NORMAL"

  @Flag(help: "Create the file with its content, and end.")
  var fill = false

  @Argument(help: "The file.", transform: { URL(fileURLWithPath: $0) })
  var file: URL

  func run() async throws {
    if fill { return try Sample.fill(file) }
    let router = Router(context: JSONContext.self)
    router.get("health") { _, _ in HTTPResponse.Status.ok }
    Routes(catalogue: try catalogue()).add(to: router)
    var logger = Logger(label: "CatalogueServer")
    logger.logLevel = .warning
    let application = Application(
      router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
      logger: logger)
    try await application.runService()
  }

  private func catalogue() throws -> any Catalogue {
    switch contestant {
    case .persist: try PersistCatalogue(file, synchronous: synchronous)
    case .grdb: try GRDBCatalogue(file, synchronous: synchronous)
    case .memory: try MemoryCatalogue(file)
    }
  }
}
