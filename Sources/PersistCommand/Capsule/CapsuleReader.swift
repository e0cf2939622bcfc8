import Foundation
import Persist
import PersistTools

/// Reads a failure capsule, and builds its store and models in a folder.
///
/// A capsule may come from anywhere: its paths don't lead out of the folder, and of SQL it contains only definitions.
struct CapsuleReader {
  /// The content of the first line.
  struct Header {
    let settings: CapsuleSettings
    let failure: RecordedFailure
  }

  /// The recorded failure.
  struct RecordedFailure {
    let code: Int
    let name: String
    let entity: String?
    let property: String?
    let message: String
    let pass: String
    let stepEntity: String?
    let work: String?
    let errors: [String]

    func isSame(as failure: FailedStep) -> Bool {
      code == failure.error.code.rawValue && entity == failure.error.place.entity
        && property == failure.error.place.property && message == failure.message && pass == failure.pass
        && stepEntity == failure.entity && work == failure.work && errors == failure.error.errors.map(\.code.name)
    }
  }

  private var bytes: ByteReader
  private var line: [UInt8] = []
  private var lineNumber = 0

  init(_ url: URL) throws { bytes = try ByteReader(url) }

  /// Reads the first line.
  mutating func header() throws -> Header {
    guard let item = try next() else { throw malformed("The file is empty.") }
    return try understood {
      let members = try item.members("The first line")
      guard let format = members["capsule"]?.wholeNumber else {
        throw UnusableInput("The file isn't a capsule.", code: .malformedFile)
      }
      guard format == CapsuleWriter.format else {
        throw UnusableInput("The capsule's format \(format) is unknown to this program.", code: .malformedFile)
      }
      let settings = try (members["settings"] ?? .null).members("'settings'")
      let failure = try (members["failure"] ?? .null).members("'failure'")
      return Header(
        settings: CapsuleSettings(
          to: settings["to"]?.text, copies: settings["copy"]?.flag == true,
          allowsLoss: settings["allowLoss"]?.flag == true, defersWork: settings["defer"]?.flag == true,
          discards: settings["discard"]?.flag == true),
        failure: RecordedFailure(
          code: failure["code"]?.wholeNumber ?? 0, name: failure["name"]?.text ?? "", entity: failure["entity"]?.text,
          property: failure["property"]?.text, message: failure["message"]?.text ?? "",
          pass: failure["pass"]?.text ?? "", stepEntity: failure["stepEntity"]?.text, work: failure["work"]?.text,
          errors: failure["errors"]?.texts ?? []))
    }
  }

  /// Builds the store and the models from the lines after the first.
  mutating func build(storeAt store: URL, models: URL) throws {
    try FileManager.default.createDirectory(at: models, withIntermediateDirectories: true)
    try StoreShapeWriter.createStore(at: store) { writer in
      var table: (name: String, columns: [String])?
      while let item = try next() {
        if case .array(let cells) = item {
          guard let table, table.columns.count == cells.count else {
            throw malformed("A row doesn't have the columns of its table.")
          }
          try writer.insert(understood { try cells.map(Self.cell) }, into: table.name, table.columns)
          continue
        }
        let members = try understood { try item.members("The line") }
        if let path = members["model"]?.text {
          guard let content = members["content"]?.text.flatMap({ Data(base64Encoded: $0) }) else {
            throw malformed("The file '\(path)' has no content.")
          }
          try write(content, to: path, in: models)
        } else if let sql = members["sql"]?.text {
          if let name = members["table"]?.text { table = (name, members["columns"]?.texts ?? []) }
          try writer.define(sql)
        } else if members["end"]?.flag == true {
          return
        } else {
          throw malformed("The line is none of a capsule.")
        }
      }
      throw malformed("The capsule isn't complete: its last line is missing.")
    }
  }

  private func write(_ content: Data, to path: String, in folder: URL) throws {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard !parts.isEmpty, parts.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." && !$0.contains("\0") }) else {
      throw malformed("The path '\(path)' leads out of the capsule.")
    }
    let url = parts.reduce(folder) { $0.appendingPathComponent(String($1)) }
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try content.write(to: url)
  }

  private static func cell(_ item: JSONItem) throws -> StoreShape.Cell {
    switch item {
    case .null: return .value(.null)
    case .string(let text): return .value(.text(text))
    case .number(let text):
      if let number = Int64(text) { return .value(.integer(number)) }
      guard let number = Double(text) else {
        throw UnusableInput("\(ValueWords.text(text)) isn't a number.", code: .malformedFile)
      }
      return .value(.double(number))
    case .boolean, .array: throw UnusableInput("A cell can't be \(item.kind).", code: .malformedFile)
    case .object: break
    }
    let members = try item.members("A cell")
    if let bytes = members["exact"]?.text.flatMap({ Data(base64Encoded: $0) }) { return .value(.blob(bytes)) }
    let seed = members["seed"]?.text.flatMap { UInt64($0) } ?? 0
    if let name = members["file"]?.text {
      return .file(name: name, count: try members["count"].map(count), seed: seed)
    }
    if let item = members["text"] { return .text(count: try count(item), seed: seed) }
    if let item = members["bytes"] { return .bytes(count: try count(item), seed: seed, isMarked: false) }
    if let item = members["marked"] { return .bytes(count: try count(item), seed: seed, isMarked: true) }
    throw UnusableInput("A cell has an unknown form.", code: .malformedFile)
  }

  /// SQLite's own limit of a value's length.
  private static let longestValue = 1_000_000_000

  private static func count(_ item: JSONItem) throws -> Int {
    guard let count = item.wholeNumber, (0...longestValue).contains(count) else {
      throw UnusableInput("A cell has an impossible length.", code: .malformedFile)
    }
    return count
  }

  // MARK: Lines

  private mutating func next() throws -> JSONItem? {
    while try bytes.readLine(into: &line) {
      lineNumber += 1
      if line.isEmpty { continue }
      do {
        return try JSONItemReader.item(in: line)
      } catch let error as JSONItemReader.Malformed {
        throw malformed("This isn't JSON: \(error.words)")
      }
    }
    return nil
  }

  private func understood<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let error as UnusableInput {
      throw malformed(error.words)
    }
  }

  private func malformed(_ words: String) -> PersistenceError {
    PersistenceError(
      .malformedFile, at: PersistenceError.Place(file: bytes.url, line: lineNumber), words,
      fix: "Only files written by 'persist capsule' can be replayed.")
  }
}

extension JSONItem {
  fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }
  fileprivate var flag: Bool? { if case .boolean(let flag) = self { flag } else { nil } }
  fileprivate var wholeNumber: Int? { if case .number(let text) = self { Int(text) } else { nil } }
  fileprivate var texts: [String] { if case .array(let items) = self { items.compactMap(\.text) } else { [] } }
}
