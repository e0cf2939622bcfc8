import Foundation
import Persist
import PersistInspection
import PersistTools

extension StudioSession {
  private static let longestTimeline: Int64 = 200
  private static let shownChanges = 100

  /// A mark that differs after every change of the store's files, a number that differs after every unsaved change, and
  /// the transactions after a number, if the store has a history: at most the last two hundred.
  func changes(_ request: StudioRequest) throws -> StudioAnswer {
    let mark = try store.mark()
    guard store.hasHistory, request.parameters["after"] != nil else {
      return StudioAnswer.json { json in
        json.field("mark", mark)
        json.field("edits", edits?.revision)
        json.field("hasHistory", store.hasHistory)
      }
    }
    let token = try store.openCoordinator().currentPersistentHistoryToken()
    let last = token?.transactionNumber(ofStore: store.metadata.identifier) ?? 0
    let after = max(try request.number("after"), last - Self.longestTimeline)
    return try StudioAnswer.json { json in
      json.field("mark", mark)
      json.field("edits", edits?.revision)
      json.field("hasHistory", true)
      json.field("last", last)
      json.key("transactions")
      try json.array { json in
        guard after < last else { return }
        try store.withContents { contents in
          try contents.forEachTransaction(HistoryQuery(afterNumber: after)) { transaction in
            json.object { json in
              json.field("changeCount", transaction.changes?.count ?? 0)
              json.key("transaction")
              json.value(transaction.shortened(to: Self.shownChanges))
            }
          }
        }
      }
    }
  }
}

extension StudioStore {
  /// A text that differs after every change of the store by anyone.
  func mark() throws -> String {
    if url.isFileURL { return StoreFilesMark(of: url).text }
    return try withContents { try $0.foreignChangeCount().map(String.init) ?? "" }
  }
}

/// The sizes and times of a store's files: they differ after every change.
struct StoreFilesMark: Hashable {
  let text: String

  init(of url: URL) {
    text = ["", "-wal"].map { suffix in
      let attributes = try? FileManager.default.attributesOfItem(atPath: url.path + suffix)
      let time = (attributes?[.modificationDate] as? Date)?.timeIntervalSinceReferenceDate ?? 0
      return "\(attributes?[.size] as? Int ?? 0)-\(time)"
    }.joined(separator: "+")
  }
}

extension HistoryTransaction {
  /// The transaction with only the first of its changes.
  fileprivate func shortened(to count: Int) -> HistoryTransaction {
    HistoryTransaction(
      transactionNumber: transactionNumber, storeID: storeID, timestamp: timestamp, author: author,
      contextName: contextName, bundleID: bundleID, processID: processID,
      changes: changes.map { Array($0.prefix(count)) })
  }
}
