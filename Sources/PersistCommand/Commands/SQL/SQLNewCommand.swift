import ArgumentParser
import Foundation
import Persist
import PersistSQLMigrations

/// `persist sql new`: starts a migration.
struct SQLNewCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "new", abstract: "Create an empty SQL file with the next version.",
    discussion: """
      The version continues that of the newest file: a number counts up with the same number of digits, and a time \
      stamp is the present time in UTC, as in an empty folder. Beside files named '.up.sql' it has that suffix, and a \
      file '.down.sql'.
      """)

  @Argument(help: "The name of the migration.")
  var name: String

  @Option(help: "The folder with the SQL files; created if it doesn't exist.")
  var files: String

  @OptionGroup var common: OutputArguments

  private var json: Bool { common.json }

  func validate() throws {
    guard name.wholeMatch(of: /[\p{L}\p{N} _-]+/) != nil else {
      throw ValidationError("A name consists of letters, digits, spaces, '_' and '-'.")
    }
  }

  func run() throws {
    let folder = try StoreArgument.file(files, "A folder of SQL files", isFolder: true)
    var migrations: [SQLMigration] = []
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      migrations = try SQLMigration.files(in: folder)
    } catch let error as CocoaError {
      throw PersistenceError(
        .fileAccess, at: .file(folder), "The folder can't be created: \(error.localizedDescription)")
    }
    let stem = "\(Self.version(after: migrations.last))_\(name.replacing(" ", with: "_"))"
    let isPaired = migrations.last?.file?.lastPathComponent.lowercased().hasSuffix(".up.sql") == true
    let contents =
      isPaired
      ? [("\(stem).up.sql", "-- \(name)\n\n"), ("\(stem).down.sql", "-- Reverts \(name)\n\n")]
      : [("\(stem).sql", "-- \(name)\n\n\n-- down\n\n")]
    let created = try contents.map { file, text in
      let url = folder.appendingPathComponent(file)
      do {
        try Data(text.utf8).write(to: url, options: .withoutOverwriting)
      } catch {
        throw PersistenceError(
          .fileAccess, at: .file(url), "The file can't be created: \(error.localizedDescription)")
      }
      return url.path
    }
    if json {
      try StandardOutput.print { $0.field("created", strings: created) }
    } else {
      try StandardOutput.print(created.joined(separator: "\n"))
    }
  }

  /// The version after that of a migration, as written in a file's name.
  static func version(after last: SQLMigration?, now: Date = Date()) -> String {
    let digits = last?.description.prefix { $0.isNumber } ?? ""
    // A time stamp has at least the digits of a date.
    if let last, digits.count < 8 || last.version < 19_000_101 {
      let next = String(last.version + 1)
      return String(repeating: "0", count: max(0, digits.count - next.count)) + next
    }
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: now)
    let numbers = [parts.month, parts.day, parts.hour, parts.minute, parts.second]
    let text = String(format: "%04d", parts.year ?? 0) + numbers.map { String(format: "%02d", $0 ?? 0) }.joined()
    guard let last, let stamp = Int64(text), stamp <= last.version else { return text }
    return String(last.version + 1)
  }
}
