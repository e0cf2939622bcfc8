import Foundation
package import Persist
import PersistInspection
import PersistStudioSession

/// A program that serves the studio's page.
package struct StudioProgram {
  private let name: String
  private let opensServers: Bool

  /// - Parameters:
  ///   - name: The name of the program's file.
  ///   - readServer: Returns the location that the URL of a server names; nil for a program without an engine for it.
  package init(named name: String, readingServers readServer: (@Sendable (String) throws -> StoreLocation)? = nil) {
    self.name = name
    opensServers = readServer != nil
    if let readServer { StoreArgument.acceptServers(readServer) }
  }

  /// Opens the store that the arguments name, prints the page's address, and serves until the program is told to end.
  ///
  /// Exits with 1 if the store or the port can't be used, and with 2 for wrong arguments.
  package func run(_ arguments: some Sequence<String>) async {
    if arguments.contains(where: { ["-h", "--help"].contains($0) }) {
      return FileHandle.standardOutput.write(Data(StudioArguments.help(of: name).utf8))
    }
    do {
      try await serve(StudioArguments(arguments))
    } catch let mistake as StudioArguments.Mistake {
      fail("\(mistake.words) See '\(name) --help'.", status: 2)
    } catch {
      fail("\(error)", status: 1)
    }
  }

  private func serve(_ arguments: StudioArguments) async throws {
    guard opensServers || !StoreArgument.isServer(arguments.store) else {
      throw PersistenceError(
        .storeOpenFailed, "This program opens stores in files.",
        fix: "For a store on a server, run 'persist studio', which starts the program for it.")
    }
    let key = try KeySource(
      file: arguments.keyFile, variable: arguments.keyVariable, isRaw: arguments.hasRawKey,
      options: ("--key-file", "--key-env"))
    let session = try StudioSession(
      storeAt: StoreArgument.url(arguments.store), models: arguments.models.map { URL(fileURLWithPath: $0) },
      isWritable: arguments.isWritable, key: key?.provider)
    defer { session.close() }
    let page = arguments.page.map { URL(fileURLWithPath: $0) }
    try await StudioServer(session, port: arguments.port, pageFolder: page).run { url in
      FileHandle.standardOutput.write(Data("\(url.absoluteString)\n".utf8))
    }
  }

  private func fail(_ words: String, status: Int32) -> Never {
    FileHandle.standardError.write(Data("\(name): \(words)\n".utf8))
    exit(status)
  }
}
