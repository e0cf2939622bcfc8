import Foundation
import Persist
import PersistTools
import PersistInspection

/// Writes a failure capsule: a text file of JSON lines.
///
/// | line | is |
/// |---|---|
/// | `{"capsule": 1, …}` | the first: versions, settings, the failure, the plan, the number of rows of each table |
/// | `{"model": PATH, "content": …}` | a file of the models, in base64 |
/// | `{"table": NAME, "columns": […], "sql": …}` | a table, before its rows |
/// | `[1, "xqve", …]` | a row |
/// | `{"sql": …}` | an index, a view or a trigger |
/// | `{"end": true}` | the last |
struct CapsuleWriter {
  static let format = 1

  let models: URL
  let settings: CapsuleSettings

  /// Writes everything except the first line.
  ///
  /// - Returns: The tables with their numbers of rows.
  func writeBody(of shape: StoreShapeReader, to file: inout ExportedFile) throws -> [(table: String, rows: Int)] {
    for (path, url) in try ModelRegistry.files(at: models) {
      let content = try Self.content(of: url)
      try file.writeLine { json in
        json.object {
          $0.field("model", path)
          $0.key("content")
          $0.value(content)
        }
      }
    }
    var counts: [(table: String, rows: Int)] = []
    for table in shape.tables {
      try file.writeLine { json in
        json.object {
          $0.field("table", table.name)
          $0.field("columns", strings: table.columns)
          $0.field("sql", table.sql)
        }
      }
      var rows = 0
      try shape.forEachRow(of: table) { cells in
        rows += 1
        try file.writeLine { json in json.array(of: cells) { $0.write($1) } }
      }
      counts.append((table.name, rows))
    }
    for definition in shape.definitions {
      try file.writeLine { json in json.object { $0.field("sql", definition) } }
    }
    try file.writeLine { json in json.object { $0.field("end", true) } }
    return counts
  }

  private static func content(of url: URL) throws -> Data {
    do {
      return try Data(contentsOf: url)
    } catch {
      throw PersistenceError(.fileAccess, at: .file(url), "The file can't be read: \(error.localizedDescription)")
    }
  }

  /// Writes the first line.
  ///
  /// - Parameter failure: The failure of a store that was built from this capsule, whose words contain only noise.
  func writeHeader(
    _ failure: FailedStep, plan: MigrationPlan?, tables: [(table: String, rows: Int)], to file: inout ExportedFile
  ) throws {
    try file.writeLine { json in
      json.object {
        $0.field("capsule", Self.format)
        $0.field("program", ProgramVersion.text)
        $0.key("settings")
        $0.object {
          $0.field("to", settings.to)
          $0.field("copy", settings.copies)
          $0.field("allowLoss", settings.allowsLoss)
          $0.field("defer", settings.defersWork)
          $0.field("discard", settings.discards)
        }
        $0.key("failure")
        $0.object { $0.fields(of: failure) }
        $0.field("tables", of: tables) { json, table in
          json.object {
            $0.field("name", table.table)
            $0.field("rows", table.rows)
          }
        }
        if let plan {
          $0.key("plan")
          $0.object { $0.fields(of: plan) }
        }
      }
    }
  }
}

extension JSONText {
  /// The fields of a failure, as in a capsule and in `replay --json`.
  mutating func fields(of failure: FailedStep) {
    field("code", failure.error.code.rawValue)
    field("name", failure.error.code.name)
    field("entity", failure.error.place.entity)
    field("property", failure.error.place.property)
    field("message", failure.message)
    field("pass", failure.pass)
    field("stepEntity", failure.entity)
    field("work", failure.work)
    field("errors", strings: failure.error.errors.map(\.code.name))
  }

  fileprivate mutating func write(_ cell: StoreShape.Cell) {
    switch cell {
    case .value(.null): null()
    case .value(.integer(let number)): value(number)
    case .value(.double(let number)): value(number)
    case .value(.text(let text)): value(text)
    case .value(.blob(let bytes)):
      object {
        $0.key("exact")
        $0.value(bytes)
      }
    case .text(let count, let seed): write(noise: "text", count, seed)
    case .bytes(let count, let seed, let isMarked): write(noise: isMarked ? "marked" : "bytes", count, seed)
    case .file(let name, let count, let seed):
      object {
        $0.field("file", name)
        guard let count else { return }
        $0.field("count", count)
        $0.field("seed", String(seed))
      }
    }
  }

  private mutating func write(noise kind: String, _ count: Int, _ seed: UInt64) {
    object {
      $0.field(kind, count)
      $0.field("seed", String(seed))
    }
  }
}

extension FailedStep {
  /// The message of the error, followed by those of the errors that it combines.
  var message: String { error.errorDescription ?? error.message }
}
