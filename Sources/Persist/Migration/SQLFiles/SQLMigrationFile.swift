import Foundation

/// An SQL file with its directives in comments.
///
/// - `-- persist: without-transaction`: the file runs outside of a transaction.
/// - `-- persist: enforce-foreign-keys`: see ``SQLMigration/ForeignKeys/enforced``.
/// - `-- migrate:up` and `-- migrate:down` of dbmate, `-- +migrate Up` and `-- +goose Up` and similar ones: the part
///   after "down" reverts the migration. dbmate's `transaction:false` and goose's `NO TRANSACTION` have their usual
///   meaning.
/// - `-- down` alone on a line: the same without another tool.
struct SQLMigrationFile {
  private(set) var runsInTransaction = true
  private(set) var foreignKeys = SQLMigration.ForeignKeys.checkedAtEnd
  let text: [UInt8]
  /// The part of ``text`` that runs.
  let range: Range<Int>
  /// The part of ``text`` that reverts the migration; nil if there is none, or nothing but space and comments.
  let wayBack: Range<Int>?

  private static let sizeLimit = 256 << 20

  /// - Throws: ``PersistenceError/Code/malformedFile`` if the file isn't UTF-8 text or has an unknown directive,
  ///   ``PersistenceError/Code/fileAccess`` and ``PersistenceError/Code/limitExceeded``.
  init(contentsOf url: URL) throws {
    var bytes = try Array(BoundedFile.data(at: url, limit: Self.sizeLimit))
    guard !bytes.contains(0), String(validating: bytes, as: UTF8.self) != nil else {
      throw PersistenceError(
        .malformedFile, at: .file(url), "'\(url.lastPathComponent)' isn't UTF-8 text.", fix: "Save it as UTF-8.")
    }
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
    text = bytes
    var start = 0
    var end: Int?
    var back: Range<Int>?
    for (number, line) in Self.commentLines(of: bytes) {
      let words = String(decoding: bytes[line], as: UTF8.self).dropFirst(2).trimmingCharacters(in: .whitespaces)
      switch try Mark(words, at: PersistenceError.Place(file: url, line: number)) {
      case .up(let isOutside):
        if start == 0 { (start, end) = (line.upperBound, nil) } else { end = end ?? line.lowerBound }
        back = back.map { $0.lowerBound..<min($0.upperBound, line.lowerBound) }
        if isOutside { runsInTransaction = false }
      case .down:
        end = end ?? line.lowerBound
        back = back ?? line.upperBound..<bytes.count
      case .withoutTransaction: runsInTransaction = false
      case .enforcingForeignKeys: foreignKeys = .enforced
      case nil: break
      }
    }
    range = start..<(end ?? bytes.count)
    wayBack = back.flatMap { SQLScript(bytes, range: $0).isEmpty ? nil : $0 }
  }

  /// The digest of a text with all line endings converted to line feeds.
  static func checksum(of text: [UInt8]) -> String {
    let lines = text.indices.lazy.filter { index in
      text[index] != 0x0D || index + 1 == text.count || text[index + 1] != 0x0A
    }
    return Fingerprint(digesting: lines.map { text[$0] }).description
  }

  /// The lines that begin with a comment, with their line numbers, starting from 1.
  private static func commentLines(of text: [UInt8]) -> [(number: Int, line: Range<Int>)] {
    var found: [(Int, Range<Int>)] = []
    var start = 0
    var number = 1
    while start < text.count {
      let end = text[start...].firstIndex(of: 0x0A) ?? text.count
      if text[start..<end].starts(with: [UInt8(ascii: "-"), UInt8(ascii: "-")]) { found.append((number, start..<end)) }
      start = end + 1
      number += 1
    }
    return found
  }

  private enum Mark {
    case up(isOutside: Bool)
    case down
    case withoutTransaction
    case enforcingForeignKeys

    /// - Returns: nil for a comment that isn't a directive.
    init?(_ comment: String, at place: PersistenceError.Place) throws {
      let words = comment.lowercased()
      if words == "down" {
        self = .down
        return
      }
      if let own = words.wholeMatch(of: /persist:\s*(\S*)\s*/) {
        switch own.1 {
        case "without-transaction": self = .withoutTransaction
        case "enforce-foreign-keys": self = .enforcingForeignKeys
        default:
          throw PersistenceError(
            .malformedFile, at: place, "There is no directive 'persist: \(own.1)'.",
            fix: "The directives are 'persist: without-transaction' and 'persist: enforce-foreign-keys'.")
        }
        return
      }
      guard let mark = words.wholeMatch(of: /(?:migrate:|\+migrate\s+|\+goose\s+)(up|down|no transaction)\b(.*)/) else {
        return nil
      }
      switch mark.1 {
      case "up": self = .up(isOutside: mark.2.contains("transaction:false") || mark.2.contains("notransaction"))
      case "down": self = .down
      default: self = .withoutTransaction
      }
    }
  }
}
