import ArgumentParser
import Foundation
import Persist
import PersistTools

/// `persist history`: the transactions in a store's history.
struct HistoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history", abstract: "Show who changed which objects, oldest first. Never writes.",
    discussion: """
      A store has a history if Persist or Core Data has recorded its changes. Updates show the changed properties, \
      deletions the values that the model preserves. If the store keeps old values, both show the values before.
      """)

  @OptionGroup var arguments: StoreArguments

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      """
      Only transactions after this one: its number, a token, a date such as 2025-08-01 or 2025-08-01T12:00:00Z, or \
      seconds since 2001 with a fraction.
      """,
      valueName: "token|date"))
  var since: HistoryStart?

  @Option(help: "Only transactions by this author.")
  var author: String?

  func run() throws {
    let contents = try arguments.contents()
    if !contents.hasHistory { StandardError.print("persist: the store has no history.") }
    var output = StandardOutput()
    try contents.forEachTransaction(try query(contents)) { transaction in
      if arguments.json {
        try output.writeLine { $0.value(transaction, model: contents.model) }
      } else {
        try output.write(HistoryText.text(transaction))
      }
    }
    try output.flush()
  }

  private func query(_ contents: StoreContents) throws -> HistoryQuery {
    var query = HistoryQuery(author: author)
    switch since {
    case .number(let number)?: query.afterNumber = number
    case .date(let date)?: query.afterDate = date
    case .token(let token)?:
      guard let number = token.transactionNumber(ofStore: contents.metadata.identifier) else {
        throw ValidationError(
          "The token '\(token)' doesn't belong to this store, whose identifier is \(contents.metadata.identifier).")
      }
      query.afterNumber = number
    case nil: break
    }
    return query
  }
}

/// The value of `--since`.
enum HistoryStart: ExpressibleByArgument {
  case number(Int64)
  case token(HistoryToken)
  case date(Date)

  init?(argument: String) {
    if let number = Int64(argument) {
      guard number >= 0 else { return nil }
      self = .number(number)
    } else if let seconds = Double(argument), seconds.isFinite {
      self = .date(Date(timeIntervalSinceReferenceDate: seconds))
    } else if let date = Self.date(argument) {
      self = .date(date)
    } else if let token = HistoryToken(argument) {
      self = .token(token)
    } else {
      return nil
    }
  }

  /// Parses a date in one of ISO 8601's forms, as UTC if it has no time zone.
  private static func date(_ text: String) -> Date? {
    let text = text.replacing(" ", with: "T", maxReplacements: 1)
    let styles = [Date.ISO8601FormatStyle(), Date.ISO8601FormatStyle(includingFractionalSeconds: true)]
    return [text, text + "Z", text + "T00:00:00Z"].lazy
      .filter { DateText.date(iso8601: "\($0.prefix(19))Z") != nil }
      .flatMap { text in styles.lazy.compactMap { try? Date(text, strategy: $0) } }.first
  }
}
