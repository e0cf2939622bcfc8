import Foundation
import Persist

/// Reads comma-separated values in the format of RFC 4180, with any of the usual line ends.
///
/// - SeeAlso: <https://www.rfc-editor.org/rfc/rfc4180>
struct CSVReader {
  /// A cell: nil if nothing is between the commas, as opposed to an empty text in quotation marks.
  typealias Cell = String?

  private var bytes: ByteReader
  /// The line of the last record, counted from 1.
  private(set) var line = 0
  private var nextLine = 1

  var position: Int { bytes.position }
  var url: URL { bytes.url }

  init(_ url: URL) throws { bytes = try ByteReader(url) }

  /// Returns the next record; nil at the end of the file. Empty lines are skipped.
  mutating func next() throws -> [Cell]? {
    while try bytes.peek() != nil {
      line = nextLine
      let record = try self.record()
      if record.count > 1 || record.first.flatMap({ $0 }) != nil { return record }
    }
    return nil
  }

  private mutating func record() throws -> [Cell] {
    var record: [Cell] = []
    var text: [UInt8] = []
    var isQuoted = false
    while true {
      let byte = try bytes.next()
      switch byte {
      case UInt8(ascii: "\"") where text.isEmpty && !isQuoted:
        isQuoted = true
        try readQuoted(into: &text)
      case nil, UInt8(ascii: ","), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        record.append(text.isEmpty && !isQuoted ? nil : try decoded(text))
        text.removeAll(keepingCapacity: true)
        isQuoted = false
        if byte == UInt8(ascii: ",") { continue }
        if byte == UInt8(ascii: "\r"), try bytes.peek() == UInt8(ascii: "\n") { _ = try bytes.next() }
        nextLine += 1
        return record
      case let byte?:
        guard !isQuoted else { throw malformed("Expected a comma after the closing quotation mark.") }
        text.append(byte)
      }
    }
  }

  private mutating func readQuoted(into text: inout [UInt8]) throws {
    while let byte = try bytes.next() {
      if byte == UInt8(ascii: "\"") {
        guard try bytes.peek() == UInt8(ascii: "\"") else { return }
        _ = try bytes.next()
      }
      if byte == UInt8(ascii: "\n") { nextLine += 1 }
      text.append(byte)
    }
    throw malformed("A text in quotation marks has no end.")
  }

  private func decoded(_ bytes: [UInt8]) throws -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw malformed("The text isn't UTF-8.") }
    return text
  }

  private func malformed(_ words: String) -> PersistenceError {
    PersistenceError(.malformedFile, at: .file(url, line: line), words)
  }
}
