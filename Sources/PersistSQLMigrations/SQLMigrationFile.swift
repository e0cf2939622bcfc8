import Foundation
import Persist

/// An SQL file with its directives in comments.
///
/// - `-- persist: without-transaction`: the file runs outside of a transaction.
/// - `-- persist: enforce-foreign-keys`: see ``SQLMigration/ForeignKeys/enforced``.
/// - `-- migrate:up` and `-- migrate:down` of dbmate, `-- +migrate Up` and `-- +goose Up` and similar ones: the part
///   after "down" reverts the migration. dbmate's `transaction:false` and sql-migrate's `notransaction` apply to the
///   part that they begin, goose's `NO TRANSACTION` to the whole file.
/// - `-- down` alone on a line: the same without another tool.
///
/// A line within a text, a quoted name or a comment between `/*` and `*/` isn't a directive.
struct SQLMigrationFile {
  /// Whether the part that migrates runs in a transaction.
  private(set) var runsInTransaction = true
  /// Whether the part that reverts the migration runs in a transaction.
  private(set) var wayBackRunsInTransaction = true
  private(set) var foreignKeys = SQLMigration.ForeignKeys.checkedAtEnd
  let text: [UInt8]
  /// The part of ``text`` that runs.
  let range: Range<Int>
  /// The part of ``text`` that reverts the migration; nil if there is none, or nothing but space and comments.
  let wayBack: Range<Int>?

  private static let sizeLimit = 256 << 20

  /// - Throws: `PersistenceError.Code.malformedFile` if the file isn't UTF-8 text, has an unknown directive, or has
  ///   one in a text or comment without an end; `PersistenceError.Code.fileAccess` and
  ///   `PersistenceError.Code.limitExceeded`.
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
    let comments = SQLCommentLines(bytes)
    if let unfinished = comments.unfinished { try Self.requireNoMarks(in: unfinished, of: bytes, url) }
    for comment in comments.lines {
      let line = comment.range
      switch try Mark(bytes[line], at: PersistenceError.Place(file: url, line: comment.number)) {
      case .up(let isOutside):
        if start == 0 { (start, end) = (line.upperBound, nil) } else { end = end ?? line.lowerBound }
        back = back.map { $0.lowerBound..<min($0.upperBound, line.lowerBound) }
        if isOutside { runsInTransaction = false }
      case .down(let isOutside):
        end = end ?? line.lowerBound
        back = back ?? line.upperBound..<bytes.count
        if isOutside { wayBackRunsInTransaction = false }
      case .withoutTransaction: (runsInTransaction, wayBackRunsInTransaction) = (false, false)
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

  /// - Throws: `PersistenceError.Code.malformedFile` if a directive is where no comment can be, because the text, the
  ///   name or the comment before it doesn't end.
  private static func requireNoMarks(
    in unfinished: SQLCommentLines.Unfinished, of text: [UInt8], _ url: URL
  ) throws {
    for line in unfinished.lines {
      let place = PersistenceError.Place(file: url, line: line.number)
      guard try Mark(text[line.range], at: place) != nil else { continue }
      throw PersistenceError(
        .malformedFile, at: PersistenceError.Place(file: url, line: unfinished.number),
        "A text, a quoted name or a comment begins in line \(unfinished.number) and doesn't end, so that the directive "
          + "in line \(line.number) is part of it.", fix: "End it before the directive.")
    }
  }

  private enum Mark {
    /// The start of a part, and whether it runs outside of transactions.
    case up(isOutside: Bool)
    case down(isOutside: Bool)
    case withoutTransaction
    case enforcingForeignKeys

    /// - Parameter line: A line that begins with a comment.
    /// - Returns: nil for a comment that isn't a directive.
    init?(_ line: ArraySlice<UInt8>, at place: PersistenceError.Place) throws {
      // Lines may end with a carriage return, too.
      let words = String(decoding: line, as: UTF8.self).dropFirst(2).trimmingCharacters(in: .whitespacesAndNewlines)
        .lowercased()
      if words == "down" {
        self = .down(isOutside: false)
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
      let isOutside = mark.2.contains("transaction:false") || mark.2.contains("notransaction")
      switch mark.1 {
      case "up": self = .up(isOutside: isOutside)
      case "down": self = .down(isOutside: isOutside)
      default: self = .withoutTransaction
      }
    }
  }
}
