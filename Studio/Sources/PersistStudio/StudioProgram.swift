import ArgumentParser
import Foundation
import Persist
import PersistInspection
import PersistStudioSession
import StudioServer

/// The program `persist-studio`: a page in the browser for looking into a store.
@main
struct StudioProgram: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "persist-studio",
    abstract: "Look into a store in the browser: rows, objects, the model, migrations, changes.",
    discussion: """
      Prints an address to open in a browser on this machine. It contains a key; nobody without it can see the store. \
      Without --write, no byte of the store changes. Ends with Control-C.
      """)

  @Argument(help: "The store: a file, or postgresql://USER@HOST/DATABASE?schema=NAME.")
  var store: String

  @Option(help: "A folder with models, or one model; by default the store's embedded model is used.")
  var models: String?

  @Flag(help: "Allow the page to change objects.")
  var write = false

  @Option(help: "The port; by default a free one.")
  var port: Int = 0

  @Option(help: ArgumentHelp("A file with the passphrase of an encrypted store.", valueName: "file"))
  var keyFile: String?

  @Option(help: ArgumentHelp("An environment variable with the passphrase.", valueName: "variable"))
  var keyEnv: String?

  @Flag(help: "The key file contains a raw key of 32 bytes, or of 48 with the salt.")
  var rawKey = false

  @Option(help: ArgumentHelp("A folder with the page's files, for work on the page.", visibility: .hidden))
  var page: String?

  func validate() throws {
    guard (0...65535).contains(port) else { throw ValidationError("--port is from 0 to 65535.") }
  }

  func run() async throws {
    do {
      let session = try StudioSession(
        storeAt: StoreArgument.url(store), models: models.map { URL(fileURLWithPath: $0) }, isWritable: write,
        key: KeySource(file: keyFile, variable: keyEnv, isRaw: rawKey, options: ("--key-file", "--key-env"))?.provider)
      defer { session.close() }
      let server = StudioServer(session, port: port, pageFolder: page.map { URL(fileURLWithPath: $0) })
      try await server.run { url in
        FileHandle.standardOutput.write(Data("\(url.absoluteString)\n".utf8))
      }
    } catch let error as PersistenceError {
      FileHandle.standardError.write(Data("persist-studio: \(error)\n".utf8))
      throw ExitCode(1)
    }
  }
}
