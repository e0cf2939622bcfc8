import Foundation
import Persist

/// Human-readable text of a transaction in a store's history.
enum HistoryText {
  /// The number of changes of a transaction that are listed.
  private static let shownChanges = 20

  static func text(_ transaction: HistoryTransaction) -> String {
    let by = [
      transaction.author, transaction.contextName.map { "context \($0)" }, transaction.processID,
      transaction.bundleID,
    ].compactMap { $0 }.map(ValueWords.line).joined(separator: ", ")
    let changes = transaction.changes ?? []
    let counts = HistoryChangeType.allCases.compactMap { type -> String? in
      let count = changes.count { $0.changeType == type }
      return count == 0 ? nil : Measure.count(count, type.name)
    }
    let summary = counts.isEmpty ? "no changes" : counts.joined(separator: ", ")
    let date = ValueWords.date(transaction.timestamp)
    var lines = ["\(transaction.transactionNumber)  \(date)  \(by.isEmpty ? "–" : by)  \(summary)"]
    lines += changes.prefix(shownChanges).map(line)
    if changes.count > shownChanges { lines.append("  … \(changes.count) in all") }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func line(_ change: HistoryChange) -> String {
    let object = ValueWords.object(change.changedObjectID)
    let properties = change.updatedProperties.map { ": " + $0.sorted().joined(separator: ", ") }
    let tombstone = change.tombstone.flatMap { values -> String? in
      let texts = values.sorted { $0.key < $1.key }.filter { !$0.value.isNull }.map { name, value in
        "\(name) \(value)"
      }
      return texts.isEmpty ? nil : ", which had \(texts.joined(separator: ", "))"
    }
    return "  \(change.changeType.name) \(object)\(properties ?? "")\(tombstone ?? "")\(oldValues(change))"
  }

  /// The values before the change, if the store kept them.
  private static func oldValues(_ change: HistoryChange) -> String {
    let values = (change.oldValues ?? [:]).sorted { $0.key < $1.key }.map { name, value in
      "\(name) \(value)"
    }
    let members = (change.memberChanges ?? [:]).sorted { $0.key < $1.key }.flatMap { name, members in
      [(members.added, "added to"), (members.removed, "removed from")].filter { !$0.0.isEmpty }.map { ids, verb in
        let texts = ids.map(ValueWords.object).sorted().joined(separator: ", ")
        return "\(texts) \(verb) \(name)"
      }
    }
    return (values.isEmpty ? "" : "; before: \(values.joined(separator: ", "))")
      + (members.isEmpty ? "" : "; \(members.joined(separator: ", "))")
  }
}
