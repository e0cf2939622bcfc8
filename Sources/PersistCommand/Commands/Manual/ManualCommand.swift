import ArgumentParser
import Foundation
import Persist

/// `persist manual`: writes the manual pages, for the installation.
struct ManualCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "manual", abstract: "Write a manual page for each command.", shouldDisplay: false)

  @Argument(help: "The folder for the pages.")
  var folder: String

  func run() throws {
    let url = URL(fileURLWithPath: folder, isDirectory: true)
    for page in try ManualPage.pages() {
      let file = url.appendingPathComponent(page.fileName)
      do {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try Data(page.text.utf8).write(to: file, options: .atomic)
      } catch {
        throw PersistenceError(
          .fileAccess, at: .file(file), "The page can't be written: \(error.localizedDescription)")
      }
    }
  }
}
